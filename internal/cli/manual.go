package cli

// manual is the beginning of --help. Indented lines are not wrapped.
const manual = `Beam runs tools that stop to ask.

A tool (a photon) works, reports its progress, and asks a person when it needs to. The person answers on the page, in an MCP client or with a script, and the tool continues.

Examples:

    ${program}                          the playground on http://127.0.0.1:3008
    ${program} --open                   the same, opened in the browser, signed in
    ${program} --root ~/projects        let tools read a folder
    ${program} --models models.json     let tools ask models, once you approve
    ${program} --photons NAME           serve only this photon
    ${program} --addr :8080 --token S   reachable from other machines, with a token
    ${program} --memory --addr 127.0.0.1:0   store nothing; listen on a free port
    ${program} stdio --open             serve an MCP client, which starts this itself
    ${program} connect claude-code      have Claude Code start this as an MCP server
    ${program} open                     sign another browser in
    ${program} backup FILE              back up the data folder to one file
    ${program} check                    check the data folder for damage

Environment: each flag can also be set with a variable, such as BEAM_ADDR for --addr. BEAM_TOKEN keeps the token out of the list of processes. Data is stored in $XDG_STATE_HOME/beam, or in ~/.local/state/beam if that variable is not set; all programs made with Beam share it, unless --data names another folder.

Write times as in 90s, 15m, 12h, 7d, 2w or 1d12h, and sizes as in 500MB or 2GiB.

Exit status: 0 for success, 1 for a failure, 2 if the command line is wrong. On SIGINT or SIGTERM, Beam gives running tools a few seconds to end; a second signal ends it at once.`
