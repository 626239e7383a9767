package cli

import "errors"

// localFlags are for photons that run in this process, because no other Beam runs them.
type localFlags struct {
	Root   string `default:"" placeholder:"DIR" type:"path" help:"Folder that photons may read, if they run in this process."`
	Models string `default:"" placeholder:"FILE" type:"path" help:"File of the models that photons may ask, if they run in this process."`

	upstreamFlags
}

func (l *localFlags) validate() error {
	return errors.Join((&appFlags{Root: l.Root}).validateRoot(), l.upstreamFlags.validate())
}

// appFlags returns the flags of a Beam in this process.
func (l *localFlags) appFlags() *appFlags {
	return &appFlags{Root: l.Root, Models: l.Models, upstreamFlags: l.upstreamFlags, askFlags: defaultAskFlags}
}
