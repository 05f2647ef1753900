import type { Confinement } from '../../sandbox/protocol.ts';

/**
 * How far the bundler's process and esbuild's are confined. The keys mean the same as in {@link Confinement}. Shown in
 * `/ready`.
 */
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
  /** The kernel gives the process no memory far beyond its limit. */
  memory_limited: boolean;
}

/** The confinement that every system has. */
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
