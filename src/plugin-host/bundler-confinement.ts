import type { Confinement } from '../../sandbox/protocol.ts';

/** How far the bundler's process and esbuild's are confined, with the words of {@link Confinement}; shown in `/ready`. */
export interface BundlerConfinement
  extends Pick<
    Confinement,
    | 'permission'
    | 'pdeathsig'
    | 'no_new_privs'
    | 'core_dumps_off'
    | 'oom_first'
    | 'namespaces'
    | 'files_hidden'
    | 'syscalls_filtered'
  > {
  /** The kernel gives it no memory far beyond its limit. */
  memory_limited: boolean;
}

/** What holds everywhere. */
export const UNCONFINED: BundlerConfinement = {
  permission: true,
  pdeathsig: false,
  no_new_privs: false,
  core_dumps_off: false,
  memory_limited: false,
  oom_first: false,
  namespaces: false,
  files_hidden: false,
  syscalls_filtered: false,
};
