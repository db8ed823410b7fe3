package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// options are the bounds of a measurement.
type options struct {
	seconds, rounds, connections int
	binary                       string
	dir                          string
}

func main() {
	var o options
	flag.IntVar(&o.seconds, "seconds", 3, "length of one sample")
	flag.IntVar(&o.rounds, "rounds", 5, "interleaved samples of each peer")
	flag.IntVar(&o.connections, "connections", 64, "kept connections of the load")
	flag.StringVar(&o.binary, "binary", "", "the program to measure; built when empty")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: load [flags] page | size")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(flag.Arg(0), o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(what string, o options) (err error) {
	if runtime.GOOS != "linux" {
		return errors.New("processor time is read from /proc: Linux only")
	}
	if o.dir, err = os.MkdirTemp("", "anteroom-load-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	if o.binary == "" {
		o.binary = filepath.Join(o.dir, "anteroom")
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", o.binary, "./cmd/anteroom")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build the program: %w", err)
		}
	}
	switch what {
	case "page":
		return page(o)
	case "size":
		return size(o)
	default:
		flag.Usage()
		return fmt.Errorf("nothing to measure is called %q", what)
	}
}

// median of the samples, with the least and the largest.
func median(samples []float64) (mid, low, high float64) {
	s := slices.Sorted(slices.Values(samples))
	return s[len(s)/2], s[0], s[len(s)-1]
}

// size measures the binary, the time until the program is ready and its memory at rest.
func size(o options) error {
	info, err := os.Stat(o.binary)
	if err != nil {
		return err
	}
	fmt.Printf("binary: %.1f MB\n", float64(info.Size())/1e6)
	var ready, memory []float64
	for range o.rounds {
		visitors, err := freeAddress()
		if err != nil {
			return err
		}
		began := time.Now()
		p, err := start("0,1", o.binary, "serve", "--origin", "http://127.0.0.1:9", "--total-active-users", "100",
			"--listen", visitors, "--admin", "127.0.0.1:0", "--data", filepath.Join(o.dir, "size"), "--log-level", "warn")
		if err != nil {
			return err
		}
		_, err = p.out.ReadString('\n')
		ready = append(ready, time.Since(began).Seconds())
		time.Sleep(time.Duration(o.seconds) * time.Second)
		rss, err2 := p.rss()
		memory = append(memory, rss)
		p.stop()
		if err := errors.Join(err, err2); err != nil {
			return err
		}
	}
	mid, low, high := median(ready)
	fmt.Printf("ready after: %.3f s (%.3f..%.3f)\n", mid, low, high)
	mid, low, high = median(memory)
	fmt.Printf("idle memory: %.1f MiB (%.1f..%.1f)\n", mid, low, high)
	return nil
}
