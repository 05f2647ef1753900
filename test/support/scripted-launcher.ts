import type { Launcher } from '../../sandbox/driver/child/launch.ts';

/** Starts a script of the shell instead of a child; descriptor 3 is its channel. */
export function scriptedLauncher(script: string, tie: readonly string[] = []): Launcher {
  return {
    confinement: {
      permission: true,
      pdeathsig: false,
      no_new_privs: false,
      core_dumps_off: false,
      few_files: false,
      oom_first: false,
      namespaces: false,
      files_hidden: false,
      syscalls_filtered: false,
      missing: {},
    },
    // The rest of the command line becomes arguments that no script reads.
    prefix: ['/bin/sh', '-c', script],
    tie,
  };
}
