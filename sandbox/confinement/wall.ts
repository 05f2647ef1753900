/** A namespace that a process can have for itself, by bubblewrap's name. */
type Namespace = 'pid' | 'net' | 'ipc' | 'uts';

/**
 * Arguments of `bwrap` (bubblewrap) for a root folder that holds only the readable files. The process inside has its
 * own user namespace and no rights.
 * @param readable files and folders by their absolute paths
 * @param links symbolic links in the same root, each with its target
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
 * Arguments of `setpriv` (util-linux 2.40) that allow opening the same files by Landlock. Landlock needs no namespace,
 * so it works in containers too.
 * @param listed folders whose names may be listed, including all folders below them
 */
export function fileRules(readable: readonly string[], listed: readonly string[] = []): string[] {
  return [
    '--landlock-access=fs',
    ...readable.map((file) => `--landlock-rule=path-beneath:execute,read-file:${file}`),
    ...listed.map((folder) => `--landlock-rule=path-beneath:read-dir:${folder}`),
  ];
}
