package runcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/cli/command"
)

// Completion prints a completion script.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

// Help returns what --help says besides the flags.
func (*Completion) Help() string {
	return `Commands, flags, photons, their parameters and the values of these are completed.

    source <(${program} completion bash)
    ${program} completion zsh > "${fpath[1]}/_${program}"
    ${program} completion fish > ~/.config/fish/completions/${program}.fish
    ${program} completion powershell | Out-String | Invoke-Expression`
}

// completionScripts have NAME for the program's name and ID for a name of a function.
var completionScripts = map[string]string{
	"bash": `_ID_complete() {
  local IFS=$'\n'
  COMPREPLY=($(NAME complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _ID_complete NAME
`,
	"zsh": `#compdef NAME
_ID_complete() {
  local -a found
  found=("${(@f)$(NAME complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- ${found:#}
}
compdef _ID_complete NAME
`,
	"fish": `function __ID_complete
  set -l words (commandline -opc) (commandline -ct)
  NAME complete -- $words[2..-1] 2>/dev/null
end
complete -c NAME -f -a '(__ID_complete)'
`,
	"powershell": `Register-ArgumentCompleter -Native -CommandName NAME -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($word -eq '') { $words += '' }
  NAME complete '--' @words 2>$null | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`,
}

// Run prints the script.
func (c *Completion) Run(p *command.Program) error {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, p.Name)
	_, err := fmt.Fprint(p.Stdout, strings.NewReplacer("NAME", p.Name, "ID", id).Replace(completionScripts[c.Shell]))
	return err
}

// Complete prints the completions of the last of the given words, one a line.
type Complete struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints the completions.
func (c *Complete) Run(p *command.Program) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	for _, candidate := range completions(p, words[:len(words)-1]) {
		if strings.HasPrefix(candidate, last) {
			fmt.Fprintln(p.Stdout, candidate)
		}
	}
	return nil
}

// completions returns what may follow words on the command line.
func completions(p *command.Program, words []string) []string {
	if len(words) == 0 {
		return commandNames(p.Parser)
	}
	verb := words[0]
	flags := command.OwnFlags(p.Parser, verb)
	var fields askdata.Fields
	named := len(words) > 1 && !strings.HasPrefix(words[1], "-")
	ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
	defer cancel()
	if named && verb == "run" {
		fields = photonFields(ctx, p, words[1])
	}
	if name, ok := strings.CutPrefix(words[len(words)-1], "--"); ok {
		if values, takesValue := valuesOf(flags[name], command.FieldNamed(fields, name)); takesValue {
			return values
		}
	}
	var found []string
	switch {
	case !named && (verb == "run" || verb == "show"):
		found = photonNames(ctx, p)
	case !named && verb == "completion":
		found = []string{"bash", "fish", "powershell", "zsh"}
	}
	for name, f := range flags {
		if !f.Hidden {
			found = append(found, "--"+name)
		}
	}
	for i := range fields {
		found = append(found, "--"+command.FlagName(fields[i].Name, flags))
	}
	slices.Sort(found)
	return found
}

func commandNames(parser *kong.Kong) []string {
	var names []string
	for _, n := range parser.Model.Children {
		if !n.Hidden {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}

// valuesOf returns the values of a flag or a field, if they are known, and whether it takes
// one.
func valuesOf(flag *kong.Flag, field *askdata.Field) (values []string, takesValue bool) {
	switch {
	case flag != nil && flag.IsBool():
		return nil, false
	case flag != nil:
		return flag.EnumSlice(), true
	case field == nil || field.Type == "boolean":
		return nil, false
	}
	for _, c := range field.Choices {
		values = append(values, c.Value)
	}
	return values, true
}

// photonNames returns the names of the photons.
func photonNames(ctx context.Context, p *command.Program) []string {
	known, done := completable(ctx, p)
	defer done()
	list, err := known.Photons(ctx)
	if err != nil {
		return nil
	}
	names := make([]string, len(list))
	for i, photon := range list {
		names[i] = photon.Name
	}
	return names
}

// photonFields returns the parameters of a photon; nil if there is no such photon.
func photonFields(ctx context.Context, p *command.Program, name string) askdata.Fields {
	known, done := completable(ctx, p)
	defer done()
	photon, err := known.Photon(ctx, name)
	if err != nil {
		return nil
	}
	fields, err := photon.Fields()
	if err != nil {
		return nil
	}
	return fields
}
