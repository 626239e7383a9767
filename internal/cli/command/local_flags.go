package command

import "errors"

// LocalFlags are for photons that run in this process, because no other Beam runs them.
type LocalFlags struct {
	Root   string `default:"" placeholder:"DIR" type:"path" help:"Folder that photons may read, if they run in this process."`
	Models string `default:"" placeholder:"FILE" type:"path" help:"File of the models that photons may ask, if they run in this process."`

	UpstreamFlags
}

func (l *LocalFlags) CheckFlags() error {
	return errors.Join((&AppFlags{Root: l.Root}).validateRoot(), l.UpstreamFlags.CheckFlags())
}

// AppFlags returns the flags of a Beam in this process.
func (l *LocalFlags) AppFlags() *AppFlags {
	return &AppFlags{Root: l.Root, Models: l.Models, UpstreamFlags: l.UpstreamFlags, AskFlags: DefaultAskFlags}
}
