package datacmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/photon-beam/beam/internal/app"
	"github.com/photon-beam/beam/internal/cleantext"
	"github.com/photon-beam/beam/internal/cli/command"
	"github.com/photon-beam/beam/internal/controlsocket"
	"github.com/photon-beam/beam/internal/datafolder"
	"github.com/photon-beam/beam/internal/datastar"
	"github.com/photon-beam/beam/internal/diskspace"
	"github.com/photon-beam/beam/internal/humanize"
	"github.com/photon-beam/beam/internal/links"
	"github.com/photon-beam/beam/internal/oauth"
	"github.com/photon-beam/beam/internal/runlog"
	"github.com/photon-beam/beam/static"
)

// Doctor looks for what is wrong.
type Doctor struct {
	Addr   string `default:"127.0.0.1:3008" placeholder:"HOST:PORT" help:"The address that a playground is to listen on (default ${default})."`
	OAuth  string `name:"oauth" env:"-" placeholder:"ISSUER" help:"Check also what MCP clients need of this authorization server and, with --url, of Beam."`
	URL    string `name:"url" placeholder:"URL" help:"URL at which clients reach the Beam that --oauth-issuer protects."`
	Output string `env:"-" default:"text" enum:"text,json" placeholder:"FORMAT" help:"text or json (default ${default})."`

	command.DataFolderFlags
	command.StoreFlags
}

// Help returns what --help says besides the flags.
func (*Doctor) Help() string {
	return "It checks the versions, the data folder and its owner, the log, the port, the pages and the browser, and changes nothing. With --store, it tries what Beam needs of the database, and the key isn't needed. Exit status: 1 if something has to be mended.\n\n    ${program} doctor\n    ${program} doctor --output json\n    ${program} doctor --oauth https://login.example --url https://tools.example/beam"
}

// A finding is what was found in one place.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, note or problem
	Text   string `json:"text"`
	Mend   string `json:"mend,omitempty"` // how
}

// The statuses of findings.
const (
	findingOK      = "ok"
	findingNote    = "note"
	findingProblem = "problem"
)

// Run checks everything, and prints what it found.
func (c *Doctor) Run(ctx context.Context, p *command.Program) error {
	findings := []finding{{Check: "version", Status: findingOK, Text: fmt.Sprintf("%s %s, %s, %s/%s", p.Name, app.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)}}
	findings = append(findings, c.checkData(ctx, p)...)
	findings = append(findings, c.checkStore(ctx)...)
	findings = append(findings, c.checkPort(p), checkPages(), checkBrowser())
	findings = append(findings, c.checkOAuth(ctx)...)
	problems := 0
	for _, f := range findings {
		if f.Status == findingProblem {
			problems++
		}
	}
	if err := c.print(p, findings); err != nil {
		return err
	}
	if problems > 0 {
		return &command.ExitError{Status: command.ExitFailed}
	}
	return nil
}

func (c *Doctor) print(p *command.Program, findings []finding) error {
	if c.Output == "json" {
		return command.PrintJSON(p, map[string]any{"findings": findings})
	}
	for _, f := range findings {
		fmt.Fprintf(p.Stdout, "%-8s %-8s %s\n", f.Status, f.Check, f.Text)
		if f.Mend != "" {
			fmt.Fprintf(p.Stdout, "%18s%s\n", "", f.Mend)
		}
	}
	return nil
}

// checkData checks the data folder, who owns it, and the log in it.
func (c *Doctor) checkData(ctx context.Context, p *command.Program) []finding {
	dir, err := datafolder.Resolve(c.Data)
	if err != nil {
		return []finding{{"data", findingProblem, err.Error(), "Name a folder with --data, or set $HOME."}}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{{"data", findingOK, dir + " doesn't exist yet; the first start makes it", ""}}
	case err != nil:
		return []finding{{"data", findingProblem, err.Error(), "Make the folder accessible, or name another with --data."}}
	case !info.IsDir():
		return []finding{{"data", findingProblem, dir + " is not a folder", "Move the file away, or name another folder with --data."}}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return []finding{{"data", findingProblem, fmt.Sprintf("%s can be entered by others: its mode is %o", dir, info.Mode().Perm()), "chmod 700 " + dir}}
	}
	findings := []finding{{"data", findingOK, dir, ""}}
	if err := diskspace.NewDisk(dir, diskspace.DefaultMinFree).CheckFree(); err != nil {
		findings = append(findings, finding{"disk", findingProblem, err.Error(), fmt.Sprintf("Free some space, or delete runs with %s prune.", p.Command)})
	}
	return append(findings, c.checkOwner(ctx, p, dir)...)
}

// checkOwner checks the process that owns the folder; if there is none, it reads the runs.
func (c *Doctor) checkOwner(ctx context.Context, p *command.Program, dir string) []finding {
	query, cancel := context.WithTimeout(ctx, command.OwnerQueryTimeout)
	defer cancel()
	owner, err := controlsocket.Identify(query, dir)
	switch {
	case owner.PID == 0 && c.Store != "":
		return nil // the runs are elsewhere
	case owner.PID == 0 && (err == nil || errors.Is(err, controlsocket.ErrNoListener)):
		return []finding{checkRuns(ctx, p, dir)}
	case err != nil:
		return []finding{{"owner", findingProblem, fmt.Sprintf("%s owns the data folder and doesn't answer: %v", command.DescribeOwner(owner), err), "Stop that process, and start it again."}}
	case owner.Version != app.Version():
		return []finding{{"owner", findingNote, fmt.Sprintf("%s runs version %s, and this is %s", command.DescribeOwner(owner), owner.Version, app.Version()), "Start it again to use this version."}}
	}
	return []finding{{"owner", findingOK, command.DescribeOwner(owner) + command.DescribePages(owner), ""}}
}

func checkRuns(ctx context.Context, p *command.Program, dir string) finding {
	report, err := datafolder.Check(ctx, dir)
	mend := fmt.Sprintf("Restore a backup with %s restore, or copy what can be read with %s repair.", p.Command, p.Command)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding{"runs", findingOK, "there are none yet", ""}
	case errors.Is(err, datafolder.ErrInUse):
		return finding{"runs", findingProblem, "a process owns the data folder and doesn't answer", "Stop that process; \"fuser\" or \"lsof\" on the file lock in the folder names it."}
	case errors.Is(err, runlog.ErrCorrupt):
		return finding{"runs", findingProblem, err.Error(), mend}
	case err != nil:
		return finding{"runs", findingProblem, err.Error(), "Make the folder readable."}
	case !report.Whole():
		return finding{"runs", findingProblem, describeDamage(report, "data folder"), mend}
	case len(report.MissingFiles) > 0:
		return finding{"runs", findingProblem, describeMissingFiles(report), "Mount the volume that has them, or restore a backup. The rest of the runs is intact."}
	}
	return finding{"runs", findingOK, fmt.Sprintf("%s and %s are intact", humanize.Count(report.Runs, "run"), humanize.Count(report.Files, "file")), ""}
}

// checkOAuth checks an authorization server, and the Beam that trusts it.
func (c *Doctor) checkOAuth(ctx context.Context) (findings []finding) {
	if c.OAuth == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	found, issuer := oauth.CheckIssuer(ctx, nil, c.OAuth)
	site, err := links.ParseSite(c.URL)
	switch {
	case c.URL == "":
		found = append(found, oauth.Finding{Status: oauth.FindingNote, Text: "Beam's own metadata was not checked", Mend: "Name Beam's URL with --url, as for serve."})
	case err != nil:
		found = append(found, oauth.Finding{Status: oauth.FindingProblem, Text: "--url is not a URL of Beam: " + err.Error(), Mend: "Name Beam's URL as for serve."})
	case issuer.Issuer != "":
		found = append(found, oauth.CheckResource(ctx, nil, site, issuer)...)
	}
	for _, f := range found {
		findings = append(findings, finding{"oauth", f.Status, cleantext.Text(f.Text), cleantext.Text(f.Mend)}) // the server says some of it
	}
	return findings
}

// checkPort checks whether a playground could listen.
func (c *Doctor) checkPort(p *command.Program) finding {
	l, err := net.Listen("tcp", c.Addr)
	switch {
	case err == nil:
		l.Close()
		return finding{"port", findingOK, c.Addr + " is free", ""}
	case errors.Is(err, syscall.EADDRINUSE):
		return finding{"port", findingNote, c.Addr + " is in use, maybe by a Beam that runs", fmt.Sprintf("To start another: %s serve --addr 127.0.0.1:0", p.Command)}
	}
	return finding{"port", findingProblem, fmt.Sprintf("can't listen on %s: %v", c.Addr, err), "Choose another address with --addr."}
}

// checkPages checks whether the pages have their script.
func checkPages() finding {
	if !static.HasDatastar() {
		return finding{"pages", findingNote, "they are plain: the program was built without their script", datastar.HowToAdd()}
	}
	return finding{"pages", findingOK, "they have their script", ""}
}

// browserCommands are the commands that open a browser, by system.
var browserCommands = map[string][]string{
	"linux":  {"xdg-open", "x-www-browser", "www-browser"},
	"darwin": {"open"}, "windows": {"rundll32"},
}

func checkBrowser() finding {
	for _, name := range browserCommands[runtime.GOOS] {
		if path, err := exec.LookPath(name); err == nil {
			return finding{"browser", findingOK, path, ""}
		}
	}
	return finding{"browser", findingNote, "no command opens one", "Install xdg-utils for --open, or open the addresses yourself."}
}
