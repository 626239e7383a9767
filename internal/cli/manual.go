package cli

// manual is what --help says first. Lines that are indented are shown as they
// are.
const manual = `Beam runs tools that stop to ask.

A tool (a photon) works, says how far it is, and asks a person when it needs to. Whoever has the page open answers, and the tool goes on.

Examples:

    ${program}                          the playground on http://127.0.0.1:3008
    ${program} --open                   the same, opened in the browser, signed in
    ${program} --root ~/projects        let tools read a folder
    ${program} --addr :8080 --token S   reachable from other machines, with a token
    ${program} --memory --addr 127.0.0.1:0   keep nothing, on a free port
    ${program} stdio --open             for an MCP client, which starts it itself
    ${program} open                     sign another browser in
    ${program} backup FILE              all that is kept, in one file
    ${program} check                    whether what is kept is whole

Environment: each flag can be set as a variable, BEAM_ADDR for --addr. BEAM_TOKEN keeps the token out of the list of processes. Data is kept in $XDG_STATE_HOME/beam, or else in ~/.local/state/beam; all programs made with Beam share it, unless --data names another folder.

Times are written as in 90s, 15m, 12h, 7d, 2w or 1d12h, sizes as in 500MB or 2GiB.

Exit status: 0 when done, 1 if something failed, 2 if the command line is wrong. SIGINT and SIGTERM let what works end first; a second one ends Beam at once.`
