package term

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/photon-beam/beam/generators"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/runs"
	"github.com/photon-beam/beam/internal/term/render"
)

// Forms asks with forms that fill in the terminal.
type Forms struct {
	Terminal *Terminal
	guard    guard
}

var _ Asker = (*Forms)(nil)

// Ask implements [Asker].
func (f *Forms) Ask(ctx context.Context, q *Question, invalid *generators.InvalidError) (runs.Answer, error) {
	values := newFieldValues(q, invalid)
	wait := f.guard.wait(q)
	for {
		err := f.run(ctx, values.form(), values.heading(render.Styles(f.Terminal.Color)), "esc: decline, or answer later", wait)
		switch {
		case err == nil:
			f.guard.answered = time.Now()
			return values.answer()
		case !errors.Is(err, ErrPostponed):
			return runs.Answer{}, err
		}
		wait = 0
		choice, err := f.leave(ctx, q)
		switch {
		case errors.Is(err, ErrPostponed): // Esc, once more
			continue
		case err != nil:
			return runs.Answer{}, err
		}
		switch choice {
		case leaveOpen:
			return runs.Answer{}, ErrPostponed
		case leaveRun:
			return runs.Answer{}, ErrLeft
		case leaveDecline:
			return runs.Answer{Action: askdata.Decline}, nil
		case leaveDismiss:
			return runs.Answer{Action: askdata.Cancel}, nil
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
	err = f.run(ctx, form, func(int) string { return "" }, "esc: back to the question", 0)
	return choice, err
}

// run shows a form with what is above and below it until the form is completed or left,
// and removes it from the screen. It takes no key that was pressed before the form was
// drawn, nor for a time after that.
func (f *Forms) run(ctx context.Context, form *huh.Form, heading func(width int) string, keyHelp string, wait time.Duration) error {
	keys := huh.NewDefaultKeyMap()
	keys.Quit.SetEnabled(false) // formModel handles it
	m := &formModel{
		form: form.WithTheme(huh.ThemeFunc(formTheme)).WithKeyMap(keys), heading: heading, keyHelp: keyHelp, style: render.Styles(f.Terminal.Color),
		wait: max(wait, drawTime), early: discardInput(f.Terminal.In.Fd()),
	}
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

// formTheme has the terminal's own colors. The selected button can be told from the other
// without them.
func formTheme(isDark bool) *huh.Styles {
	t := huh.ThemeBase16(isDark)
	for _, field := range []*huh.FieldStyles{&t.Focused, &t.Blurred} {
		field.FocusedButton = field.FocusedButton.Padding(0, 1).Transform(func(label string) string { return "[" + label + "]" })
	}
	return t
}

// drawTime is longer than the program takes to draw what it shows, 60 times a second.
const drawTime = 40 * time.Millisecond

// The messages of a formModel.
type (
	withdrawn struct{} // the question is no longer to be asked
	second    struct{} // the time left has changed
	opened    struct{} // the form takes keys
)

func tickSecond() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return second{} }) }

// A formModel runs a form: Esc leaves it, unless choices are being filtered, and so does
// Ctrl-C.
type formModel struct {
	form    *huh.Form
	heading func(width int) string
	keyHelp string // shown while keys are taken
	style   render.Styles
	size    tea.WindowSizeMsg // of the terminal; zero until it is known
	wait    time.Duration     // after the form is drawn, until it takes keys
	open    bool              // takes keys
	early   bool              // keys were pressed before that
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
	case opened:
		m.open = true
		return m, nil
	case tea.WindowSizeMsg: // the form has what is left of the height
		var open tea.Cmd
		if m.size.Width == 0 {
			open = tea.Tick(m.wait, func(time.Time) tea.Msg { return opened{} })
		}
		m.size = event
		return m, tea.Batch(m.resize(), open)
	case tea.PasteMsg:
		if !m.open {
			return m.tooEarly()
		}
	case tea.KeyPressMsg:
		switch {
		case event.String() == "ctrl+c":
			return m.quit(ErrInterrupted)
		case !m.open:
			return m.tooEarly()
		case event.String() == "esc" && !m.isFiltering():
			return m.quit(ErrPostponed)
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

func (m *formModel) tooEarly() (tea.Model, tea.Cmd) {
	m.early = true
	return m, m.resize()
}

// resize gives the form what the heading and the footer leave of the terminal's height.
func (m *formModel) resize() tea.Cmd {
	if m.size.Width == 0 {
		return nil
	}
	rest := m.size
	rest.Height = max(rest.Height-strings.Count(m.heading(rest.Width)+m.footer(rest.Width), "\n")-2, 3)
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
	return tea.NewView(m.heading(m.size.Width) + strings.TrimRight(m.form.View(), "\n") + "\n" + m.footer(m.size.Width))
}

// footer returns what is below the form: the keys that leave it, once it takes keys, and
// that some came too early.
func (m *formModel) footer(width int) string {
	help := "one moment …"
	if m.open {
		help = m.keyHelp
	}
	help = m.style.Paint(render.Faint, ansi.Truncate(help, width, "…"))
	if m.early {
		help = m.style.Paint(render.Yellow, render.Wrap(tooEarly, width)) + "\n" + help
	}
	return help
}
