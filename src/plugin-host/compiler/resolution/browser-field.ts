import { dirname, join, relative, sep } from 'node:path';
import type { ReadText } from './source-texts.ts';

/** Ends of a file's name that an import may leave out, and so may what disables it. */
const ENDS = ['', '.js', '.cjs', '.mjs', '.json', `${sep}index.js`];

/**
 * What packages say that browsers do without: `"browser": { "./server.js": false, "fs": false }` makes an empty module
 * of each (https://github.com/defunctzombie/package-browser-field-spec). The bundler follows the other entries by
 * itself; of these it does not tell its plugins, which would go on to read the file.
 */
export class BrowserField {
  readonly #read: ReadText;
  /** By folder: the package that it belongs to, and what that disables. */
  readonly #scopes = new Map<string, Promise<Scope | undefined>>();

  constructor(read: ReadText) {
    this.#read = read;
  }

  /** Whether the package of an importing file does without a module that is no file of its own. */
  async disablesModule(importer: string, specifier: string): Promise<boolean> {
    if (/^[./]/.test(specifier)) return false;
    return (await this.#scopeOf(dirname(importer)))?.disabled.has(specifier) === true;
  }

  /** Whether the package of a file does without it; the end of its name may be missing. */
  async disablesFile(file: string): Promise<boolean> {
    const scope = await this.#scopeOf(dirname(file));
    if (scope === undefined || scope.disabled.size === 0) return false;
    const path = relative(scope.folder, file);
    const whole = ENDS.map((end) => path + end);
    const shortened = ENDS.filter((end) => end !== '' && path.endsWith(end)).map((end) => path.slice(0, -end.length));
    return [...whole, ...shortened].some(
      (name) => scope.disabled.has(`./${name}`) || (/[./]/.test(name) && scope.disabled.has(name)),
    );
  }

  /**
   * What a package is by its `main`, where a file is the minified bundle that it names for browsers as a whole: such a
   * bundle has its own copies of other packages in it, made for the network of a browser, and there is none here.
   */
  async mainInsteadOf(file: string): Promise<string | undefined> {
    if (!file.endsWith('.min.js')) return undefined;
    for (let folder = dirname(file); folder.includes(`${sep}node_modules${sep}`); folder = dirname(folder)) {
      const { browser, main } = readPackage(await this.#read(join(folder, 'package.json')));
      if (typeof browser !== 'string' || join(folder, browser) !== file) continue;
      return typeof main === 'string' ? join(folder, main) : undefined;
    }
    return undefined;
  }

  #scopeOf(folder: string): Promise<Scope | undefined> {
    const known = this.#scopes.get(folder);
    if (known !== undefined) return known;
    const scope = this.#find(folder);
    this.#scopes.set(folder, scope);
    return scope;
  }

  async #find(folder: string): Promise<Scope | undefined> {
    if (!folder.includes(`${sep}node_modules${sep}`)) return undefined;
    const disabled = disabledBy(await this.#read(join(folder, 'package.json')));
    return disabled === undefined ? this.#scopeOf(dirname(folder)) : { folder, disabled };
  }
}

interface Scope {
  folder: string;
  /** Keys of the map, as they are written. */
  disabled: ReadonlySet<string>;
}

/** Undefined where the text has no such map: then that of a folder above it counts. */
function disabledBy(text: string | undefined): Set<string> | undefined {
  const { browser } = readPackage(text);
  if (typeof browser !== 'object' || browser === null) return undefined;
  return new Set(Object.entries(browser).flatMap(([key, value]) => (value === false ? [key] : [])));
}

/** Nothing where there is none, or it is not JSON. */
function readPackage(text: string | undefined): { browser?: unknown; main?: unknown } {
  try {
    const read: unknown = JSON.parse(text ?? '');
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}
