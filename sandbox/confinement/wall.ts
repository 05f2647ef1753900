/** A namespace that a process can have for itself, as bubblewrap names it. */
type Namespace = 'pid' | 'net' | 'ipc' | 'uts';

/**
 * Arguments of `bwrap` (bubblewrap) for a root folder that is empty but for what is readable. What runs behind them has
 * users of its own and no rights.
 * @param readable files and folders by their absolute paths
 */
export function emptyRoot(readable: readonly string[], namespaces: readonly Namespace[]): string[] {
  return [
    '--unshare-user',
    ...namespaces.map((name) => `--unshare-${name}`),
    ...(namespaces.includes('pid') ? ['--as-pid-1'] : []),
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    ...readable.flatMap((file) => ['--ro-bind', file, file]),
    '--remount-ro',
    '/',
    '--chdir',
    '/',
  ];
}

/**
 * Arguments of `setpriv` (util-linux 2.40) that leave the same to be opened by Landlock, which needs no namespace: so it
 * works in containers too.
 */
export function fileRules(readable: readonly string[]): string[] {
  return ['--landlock-access=fs', ...readable.map((file) => `--landlock-rule=path-beneath:execute,read-file:${file}`)];
}
