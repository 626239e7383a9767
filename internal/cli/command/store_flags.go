package command

import (
	"errors"

	"github.com/photon-beam/beam/internal/datafolder"
)

// StoreFlags name a database that has the runs instead of a folder.
type StoreFlags struct {
	Store          string `default:"" placeholder:"URL" help:"PostgreSQL database, such as postgres://beam@db.example/beam, that has the runs instead of the folder, for any number of replicas: docs/replicas.md describes it. Requires --secrets-key-file."`
	SecretsKeyFile string `default:"" placeholder:"FILE" type:"path" help:"File of the key, 32 random bytes, that encrypts keys in --store. All replicas have the same."`
}

func (c *StoreFlags) validate() error {
	if c.Store == "" && c.SecretsKeyFile != "" {
		return errors.New("--secrets-key-file belongs to --store")
	}
	return nil
}

// UseDatabase passes do the database that the flags name, in a temporary folder.
func (c *StoreFlags) UseDatabase(do func(*datafolder.Folder) error) error {
	if err := c.validate(); err != nil {
		return err
	}
	f, err := datafolder.OpenDatabase(c.Store, c.SecretsKeyFile)
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}
