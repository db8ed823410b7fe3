package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/anteroom/anteroom"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// commands is the command line.
type commands struct {
	Serve      serveCommand      `cmd:"" help:"Stand in front of a site: let in as many visitors as fit, keep the others in line."`
	Apply      applyCommand      `cmd:"" help:"Make the rooms of a running server equal to those of a file."`
	Check      checkCommand      `cmd:"" help:"Check a file without applying it."`
	Simulate   simulateCommand   `cmd:"" help:"Run waiting rooms in virtual time: loads, faults and the published algorithm for comparison."`
	VerifyDraw verifyDrawCommand `cmd:"" help:"Check the published record of a draw."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// console is where a command prints.
type console struct {
	out, err io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := run(ctx, os.Args[1:], console{os.Stdout, os.Stderr})
	stop()
	os.Exit(code) //nolint:gocritic // stop has run
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, con console) int {
	var cli commands
	exited := false
	parser, err := kong.New(&cli,
		kong.Name("anteroom"),
		kong.Description("A waiting room, load balancer and edge in one program."),
		kong.DefaultEnvars("ANTEROOM"),
		kong.Writers(con.out, con.err),
		kong.Exit(func(int) { exited = true }),
		kong.ShortUsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		panic(err) // the struct tags are wrong: no input can cause it
	}
	command, err := parser.Parse(args)
	if exited { // --help
		return exitOK
	}
	if err == nil {
		command.BindTo(ctx, (*context.Context)(nil))
		err = command.Run(con)
	} else {
		err = usageError(err)
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(con.err, "anteroom: %v\n", err)
	return exitCode(err)
}

// usageError adds the remedy to a fault of the command line.
func usageError(err error) error {
	return anteroom.Errorf(anteroom.CodeInvalid, "%v", err).WithHint("see anteroom --help")
}

// exitCode tells wrong input, which the operator can mend, from a failure.
func exitCode(err error) int {
	var one *anteroom.Error
	var many anteroom.Errors
	var bad badInput
	if errors.As(err, &one) && one.Code != anteroom.CodeInternal && one.Code != anteroom.CodeUnavailable ||
		errors.As(err, &many) || errors.As(err, &bad) {
		return exitUsage
	}
	return exitFailure
}

// badInput marks an error as the fault of what the operator gave.
type badInput struct{ error }

func (b badInput) Unwrap() error { return b.error }
