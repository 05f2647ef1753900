import { checkObject, checkString } from './node-error.ts';

export interface ParsedPath {
  root: string;
  dir: string;
  base: string;
  ext: string;
  name: string;
}

const SEPARATOR = '/';
const ROOT_FOLDER = '/';

/** Resolves `.` and `..`. A `..` that leads above the beginning of a relative path stays. */
function normalized(path: string, isRooted: boolean): string {
  const segments: string[] = [];
  for (const part of path.split(SEPARATOR)) {
    if (part === '' || part === '.') continue;
    if (part !== '..') segments.push(part);
    else if (segments.length > 0 && segments.at(-1) !== '..') segments.pop();
    else if (!isRooted) segments.push('..');
  }
  return segments.join(SEPARATOR);
}

function normalize(path: unknown): string {
  checkString(path, 'path');
  if (path === '') return '.';
  const isRooted = path.startsWith(SEPARATOR);
  const inner = normalized(path, isRooted);
  const isFolder = path.endsWith(SEPARATOR);
  if (inner === '') return isRooted ? SEPARATOR : isFolder ? './' : '.';
  return (isRooted ? SEPARATOR : '') + inner + (isFolder ? SEPARATOR : '');
}

function resolve(...paths: unknown[]): string {
  let found = '';
  for (let index = paths.length - 1; index >= 0 && !found.startsWith(SEPARATOR); index--) {
    const path = paths[index];
    checkString(path, `paths[${index}]`);
    if (path !== '') found = found === '' ? path : `${path}${SEPARATOR}${found}`;
  }
  if (!found.startsWith(SEPARATOR)) found = `${ROOT_FOLDER}${found}`;
  return SEPARATOR + normalized(found, true);
}

function join(...paths: unknown[]): string {
  for (const path of paths) checkString(path, 'path');
  const joined = paths.filter((path) => path !== '').join(SEPARATOR);
  return joined === '' ? '.' : normalize(joined);
}

function relative(from: unknown, to: unknown): string {
  checkString(from, 'from');
  checkString(to, 'to');
  const parts = (path: string) =>
    resolve(path)
      .split(SEPARATOR)
      .filter((part) => part !== '');
  const start = parts(from);
  const end = parts(to);
  let shared = 0;
  while (shared < start.length && shared < end.length && start[shared] === end[shared]) shared += 1;
  return [...start.slice(shared).map(() => '..'), ...end.slice(shared)].join(SEPARATOR);
}

/** The path without separators behind its last part. */
function trimmed(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === SEPARATOR) end -= 1;
  return path.slice(0, end);
}

function dirname(path: unknown): string {
  checkString(path, 'path');
  const whole = trimmed(path);
  const end = whole.lastIndexOf(SEPARATOR);
  if (end === -1) return '.';
  if (end === 0) return SEPARATOR;
  // Two separators at the very beginning stay.
  return end === 1 && whole.startsWith('//') ? '//' : whole.slice(0, end);
}

function basename(path: unknown, suffix?: unknown): string {
  if (suffix !== undefined) checkString(suffix, 'suffix');
  checkString(path, 'path');
  const whole = trimmed(path);
  if (suffix === undefined || suffix === '' || suffix.length > path.length) return lastSegment(whole);
  if (suffix === path) return '';
  // A path of nothing but separators stays as it is, as in Node.
  if (whole === SEPARATOR) return path;
  const name = lastSegment(whole);
  return name !== suffix && name.endsWith(suffix) ? name.slice(0, name.length - suffix.length) : name;
}

function lastSegment(path: string): string {
  return path === SEPARATOR ? '' : path.slice(path.lastIndexOf(SEPARATOR) + 1);
}

function extname(path: unknown): string {
  checkString(path, 'path');
  const name = basename(path);
  const dot = name.lastIndexOf('.');
  return dot <= 0 || name === '..' ? '' : name.slice(dot);
}

function parse(path: unknown): ParsedPath {
  checkString(path, 'path');
  const root = path.startsWith(SEPARATOR) ? SEPARATOR : '';
  const base = basename(path);
  const ext = extname(base);
  const before = trimmed(path).slice(0, trimmed(path).length - base.length);
  const dir = before.length > 1 ? before.slice(0, -1) : before;
  return { root, dir: base === '' ? root : dir, base, ext, name: ext === '' ? base : base.slice(0, -ext.length) };
}

function format(parts: unknown): string {
  checkObject(parts, 'pathObject');
  const { root = '', dir = root, base, name = '', ext = '' } = parts as Partial<ParsedPath>;
  const end = ext === '' || ext.startsWith('.') ? ext : `.${ext}`;
  const last = base || `${name}${end}`;
  if (!dir) return last;
  return dir === root ? `${dir}${last}` : `${dir}${SEPARATOR}${last}`;
}

const posix = {
  resolve,
  normalize,
  isAbsolute(path: unknown): boolean {
    checkString(path, 'path');
    return path.startsWith(SEPARATOR);
  },
  join,
  relative,
  toNamespacedPath: (path: unknown) => path,
  dirname,
  basename,
  extname,
  format,
  parse,
  sep: SEPARATOR,
  delimiter: ':',
};

/** Node's module `path` as it is on Linux; the current folder is the root. */
export function createPath(): Record<string, unknown> {
  const path: Record<string, unknown> = { ...posix, _makeLong: posix.toNamespacedPath };
  path['posix'] = path;
  // Libraries look only for the separators of Windows. No plugin has such paths.
  path['win32'] = { ...posix, sep: '\\', delimiter: ';' };
  return path;
}
