import { dirname, join, resolve } from 'node:path';
import { packageFolders, type ReadText } from './source-files.ts';

/** Where an author's tsconfig makes imports lead. */
export interface Tsconfig {
  /** Pattern to absolute patterns, see https://www.typescriptlang.org/tsconfig/#paths. */
  paths: ReadonlyMap<string, readonly string[]>;
  /** Folder in which bare specifiers are looked for first. */
  baseUrl: string | undefined;
}

/** The most files that one tsconfig may read, with those that it extends by way of another. */
const MAX_EXTENDED = 16;
const MAX_PATHS = 1000;
/** The longest tsconfig that is read, in characters. No person writes a longer one. */
const MAX_CHARS = 262_144;
const NOTHING: Tsconfig = { paths: new Map(), baseUrl: undefined };

type Json = Record<string, unknown>;

/**
 * The tsconfig of a folder: the nearest one in it or above it, with the files that it extends. A file that cannot be
 * read, such as one above the plugins folder, counts as empty: it may serve only the author's editor.
 * @param root folders above this one are not looked at
 */
export async function tsconfigOf(folder: string, root: string, read: ReadText): Promise<Tsconfig> {
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, 'tsconfig.json');
    if ((await read(file)) !== undefined) return readTsconfig(file, read, { left: MAX_EXTENDED });
    if (at === root || at === dirname(at)) return NOTHING;
  }
}

async function readTsconfig(file: string, read: ReadText, room: { left: number }): Promise<Tsconfig> {
  room.left -= 1;
  const config = room.left < 0 ? {} : objectOf(parsed((await read(file)) ?? ''));
  const bases = (Array.isArray(config['extends']) ? config['extends'] : [config['extends']]).filter(
    (base): base is string => typeof base === 'string',
  );
  let found = NOTHING;
  for (const base of bases) {
    for (const candidate of extendedFiles(base, dirname(file))) {
      if ((await read(candidate)) === undefined) continue;
      found = over(found, await readTsconfig(candidate, read, room));
      break;
    }
  }
  return over(found, ownOptions(objectOf(config['compilerOptions']), dirname(file)));
}

/** The paths at which an extended file may lie: a file, or a file of a package. */
function extendedFiles(base: string, folder: string): string[] {
  const places = /^\.{0,2}\//.test(base)
    ? [resolve(folder, base)]
    : packageFolders(folder).map((packages) => join(packages, base));
  return places.flatMap((place) => [place, `${place}.json`, join(place, 'tsconfig.json')]);
}

function ownOptions(options: Json, folder: string): Tsconfig {
  const { baseUrl: base, paths } = options;
  const baseUrl = typeof base === 'string' ? resolve(folder, base) : undefined;
  const entries = Object.entries(objectOf(paths)).slice(0, MAX_PATHS);
  return {
    baseUrl,
    paths: new Map(entries.map(([pattern, targets]) => [pattern, targetsOf(targets, baseUrl ?? folder)])),
  };
}

function targetsOf(targets: unknown, folder: string): string[] {
  if (!Array.isArray(targets)) return [];
  return targets.filter((target) => typeof target === 'string').map((target) => resolve(folder, target));
}

/** Merges two tsconfigs. The values of `own` win; `paths` are replaced as a whole. */
function over(base: Tsconfig, own: Tsconfig): Tsconfig {
  return {
    paths: own.paths.size > 0 ? own.paths : base.paths,
    baseUrl: own.baseUrl ?? base.baseUrl,
  };
}

/**
 * Parses JSON with comments, and with commas behind the last entry. Undefined for any other text: the author's editor
 * reports it.
 */
function parsed(text: string): unknown {
  if (text.length > MAX_CHARS) return undefined;
  const bare = text
    .replace(/^\uFEFF/, '')
    .replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, string: string | undefined) => string ?? ' ')
    .replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string: string | undefined) => string ?? '');
  try {
    return JSON.parse(bare);
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

/** Declaration files, which only the TypeScript compiler reads. The code is where it would be without the path. */
const DECLARATIONS = /\.d\.[cm]?ts$/;

/** Resolves imports by the authors' `compilerOptions.paths` and `baseUrl`. */
export class TsconfigPaths {
  readonly #root: string;
  readonly #read: ReadText;
  readonly #byFolder = new Map<string, Promise<Tsconfig>>();

  /** @param root the plugins folder, above which no tsconfig counts */
  constructor(root: string, read: ReadText) {
    this.#root = root;
    this.#read = read;
  }

  /** Absolute paths that a bare specifier may mean, best first. The first path with a file counts. */
  async candidates(specifier: string, importer: string): Promise<string[]> {
    if (/^(?:\.{0,2}\/|[a-z][\w+.-]*:|#)/i.test(specifier)) return [];
    const { paths, baseUrl } = await this.#tsconfigOf(dirname(importer));
    const below = baseUrl === undefined ? [] : [join(baseUrl, specifier)];
    return [...matched(paths, specifier), ...below].filter((path) => !DECLARATIONS.test(path));
  }

  #tsconfigOf(folder: string): Promise<Tsconfig> {
    const known = this.#byFolder.get(folder);
    if (known !== undefined) return known;
    const found = tsconfigOf(folder, this.#root, this.#read);
    this.#byFolder.set(folder, found);
    return found;
  }
}

/** The targets of the exact pattern, or of the one with the longest text before its star. */
function matched(paths: Tsconfig['paths'], specifier: string): string[] {
  const exact = paths.get(specifier);
  if (exact !== undefined) return [...exact];
  let best: { targets: readonly string[]; prefix: string; star: string } | undefined;
  for (const [pattern, targets] of paths) {
    const [prefix = '', suffix] = pattern.split('*', 2);
    if (suffix === undefined || specifier.length < prefix.length + suffix.length) continue;
    if (!specifier.startsWith(prefix) || !specifier.endsWith(suffix)) continue;
    if (best !== undefined && best.prefix.length >= prefix.length) continue;
    best = { targets, prefix, star: specifier.slice(prefix.length, specifier.length - suffix.length) };
  }
  return best === undefined ? [] : best.targets.map((target) => target.replace('*', () => best.star));
}
