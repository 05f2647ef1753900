import { type Launcher, NODE_ALONE } from '../../sandbox/driver/child/launch.ts';

/** Starts a script of the shell instead of a child; descriptor 3 is its channel. */
export function scriptedLauncher(script: string, tie: readonly string[] = []): Launcher {
  // The rest of the command line becomes arguments that no script reads.
  return { confinement: NODE_ALONE, prefix: ['/bin/sh', '-c', script], tie };
}
