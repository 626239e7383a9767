package term

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/runs"
)

// Forms asks with forms that fill in the terminal.
type Forms struct{ Terminal *Terminal }

var _ Asker = (*Forms)(nil)

// Ask implements [Asker].
func (f *Forms) Ask(ctx context.Context, q *Question, invalid *generators.InvalidError) (runs.Answer, error) {
	values := newFieldValues(q, invalid)
	for {
		err := f.run(ctx, values.form(), values.heading(styles(f.Terminal.Color)), "esc: decline, or answer later")
		switch {
		case err == nil:
			return values.answer()
		case !errors.Is(err, ErrParked):
			return runs.Answer{}, err
		}
		choice, err := f.leave(ctx, q)
		switch {
		case errors.Is(err, ErrParked): // Esc, once more
			continue
		case err != nil:
			return runs.Answer{}, err
		}
		switch choice {
		case leaveOpen:
			return runs.Answer{}, ErrParked
		case leaveRun:
			return runs.Answer{}, ErrLeft
		case leaveDecline:
			return runs.Answer{Action: ask.Decline}, nil
		case leaveDismiss:
			return runs.Answer{Action: ask.Cancel}, nil
		}
	}
}

// What the person does with a question instead of answering it.
const (
	leaveBack    = "back"
	leaveOpen    = "open"
	leaveRun     = "leave"
	leaveDecline = "decline"
	leaveDismiss = "dismiss"
)

// leave asks what to do with a question that the person has left with Esc.
func (f *Forms) leave(ctx context.Context, q *Question) (choice string, err error) {
	exit := "Leave; the run waits for the answer"
	if q.Ends {
		exit = "Leave; this ends the run"
	}
	choice = leaveBack
	options := []huh.Option[string]{
		huh.NewOption("Back to the question", leaveBack), huh.NewOption("Decline: say no", leaveDecline),
		huh.NewOption("Dismiss, without choosing", leaveDismiss), huh.NewOption("Leave it open, and watch the run", leaveOpen), huh.NewOption(exit, leaveRun),
	}
	form := huh.NewForm(huh.NewGroup(huh.NewSelect[string]().Title("The question stays open").Options(options...).Value(&choice)))
	err = f.run(ctx, form, func(int) string { return "" }, "esc: back to the question")
	return choice, err
}

// run shows a form with what is above and below it until the form is completed or left,
// and removes it from the screen.
func (f *Forms) run(ctx context.Context, form *huh.Form, heading func(width int) string, keyHelp string) error {
	keys := huh.NewDefaultKeyMap()
	keys.Quit.SetEnabled(false) // formModel handles it
	m := &formModel{form: form.WithTheme(huh.ThemeFunc(huh.ThemeBase16)).WithKeyMap(keys), heading: heading, keyHelp: styles(f.Terminal.Color).paint(faint, keyHelp)}
	program := tea.NewProgram(m, tea.WithInput(f.Terminal.In), tea.WithOutput(f.Terminal.Err), tea.WithoutSignalHandler())
	stop := context.AfterFunc(ctx, func() { program.Send(withdrawn{}) })
	defer stop()
	if _, err := program.Run(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return m.outcome
}

// The messages of a formModel.
type (
	withdrawn struct{} // the question is no longer to be asked
	second    struct{} // the time left has changed
)

func tickSecond() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return second{} }) }

// A formModel runs a form: Esc leaves it, unless choices are being filtered, and so does
// Ctrl-C.
type formModel struct {
	form    *huh.Form
	heading func(width int) string
	keyHelp string
	size    tea.WindowSizeMsg // of the terminal; zero until it is known
	done    bool
	outcome error
}

var _ tea.Model = (*formModel)(nil)

// Init implements [tea.Model].
func (m *formModel) Init() tea.Cmd { return tea.Batch(m.form.Init(), tickSecond()) }

// Update implements [tea.Model].
func (m *formModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch event := msg.(type) {
	case withdrawn:
		return m.quit(errSettledElsewhere)
	case second:
		return m, tickSecond()
	case tea.WindowSizeMsg: // the form has what is left of the height
		m.size = event
		return m, m.resize()
	case tea.KeyPressMsg:
		switch {
		case event.String() == "ctrl+c":
			return m.quit(ErrInterrupted)
		case event.String() == "esc" && !m.isFiltering():
			return m.quit(ErrParked)
		}
	}
	next, cmd := m.form.Update(msg)
	if form, ok := next.(*huh.Form); ok {
		m.form = form
	}
	if m.form.State == huh.StateCompleted {
		return m.quit(nil)
	}
	return m, tea.Batch(cmd, m.resize()) // a description that says what is wrong takes a line
}

// resize gives the form what the heading and the footer leave of the terminal's height.
func (m *formModel) resize() tea.Cmd {
	if m.size.Width == 0 {
		return nil
	}
	rest := m.size
	rest.Height = max(rest.Height-strings.Count(m.heading(rest.Width), "\n")-2, 3)
	_, cmd := m.form.Update(rest)
	return cmd
}

func (m *formModel) quit(outcome error) (tea.Model, tea.Cmd) {
	m.done, m.outcome = true, outcome
	return m, tea.Quit
}

func (m *formModel) isFiltering() bool {
	f, ok := m.form.GetFocusedField().(interface{ GetFiltering() bool })
	return ok && f.GetFiltering()
}

// View implements [tea.Model].
func (m *formModel) View() tea.View {
	if m.done || m.size.Width == 0 {
		return tea.NewView("")
	}
	return tea.NewView(m.heading(m.size.Width) + strings.TrimRight(m.form.View(), "\n") + "\n" + ansi.Truncate(m.keyHelp, m.size.Width, "…"))
}
