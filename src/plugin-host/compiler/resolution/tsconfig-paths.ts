import { dirname, join } from 'node:path';
import type { ReadText } from './source-texts.ts';
import { type Tsconfig, tsconfigOf } from './tsconfig.ts';

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
