/** A namespace that a process can have for itself, as bubblewrap names it. */
type Namespace = 'pid' | 'net' | 'ipc' | 'uts';

/**
 * Arguments of `bwrap` (bubblewrap) for a root folder that is empty but for what is readable. What runs behind them has
 * users of its own and no rights.
 * @param readable files and folders by their absolute paths
 * @param links symbolic links beside them, each with what it leads to
 */
export function emptyRoot(
  readable: readonly string[],
  namespaces: readonly Namespace[],
  links: readonly { path: string; target: string }[] = [],
): string[] {
  return [
    '--unshare-user',
    ...namespaces.map((name) => `--unshare-${name}`),
    ...(namespaces.includes('pid') ? ['--as-pid-1'] : []),
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    ...readable.flatMap((file) => ['--ro-bind', file, file]),
    ...links.flatMap(({ path, target }) => ['--symlink', target, path]),
    '--remount-ro',
    '/',
    '--chdir',
    '/',
  ];
}

/**
 * Arguments of `setpriv` (util-linux 2.40) that leave the same to be opened by Landlock, which needs no namespace: so it
 * works in containers too.
 * @param listed folders of which the names are told, with those in all folders below
 */
export function fileRules(readable: readonly string[], listed: readonly string[] = []): string[] {
  return [
    '--landlock-access=fs',
    ...readable.map((file) => `--landlock-rule=path-beneath:execute,read-file:${file}`),
    ...listed.map((folder) => `--landlock-rule=path-beneath:read-dir:${folder}`),
  ];
}
