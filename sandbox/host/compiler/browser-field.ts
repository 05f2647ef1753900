import { dirname, join, relative, sep } from 'node:path';
import type { ReadText } from './source-files.ts';

/** Ends of a file's name that an import may leave out. An entry that disables the file may leave them out, too. */
const ENDS = ['', '.js', '.cjs', '.mjs', '.json', `${sep}index.js`];

/**
 * The modules that packages leave out in browsers: `"browser": { "./server.js": false, "fs": false }` makes an empty
 * module of each (https://github.com/defunctzombie/package-browser-field-spec). The bundler follows the other entries
 * by itself. It does not tell its plugins of these, so they would go on to read the file.
 */
export class BrowserField {
  readonly #read: ReadText;
  /** The package of each folder, with the modules that the package disables. */
  readonly #scopes = new Map<string, Promise<Scope | undefined>>();

  constructor(read: ReadText) {
    this.#read = read;
  }

  /** Whether the importing file's package disables a module that is no file of its own. */
  async disablesModule(importer: string, specifier: string): Promise<boolean> {
    if (/^[./]/.test(specifier)) return false;
    return (await this.#scopeOf(dirname(importer)))?.disabled.has(specifier) === true;
  }

  /** Whether a file's package disables the file. The entry may leave out the end of the file's name. */
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
   * The `main` of a package whose minified bundle for browsers is `file`. Such a bundle contains its own copies of
   * other packages, made for the network of a browser. A plugin has no such network.
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

/**
 * The modules that a `package.json` disables. Undefined when it has no such map: then the map of a folder above counts.
 */
function disabledBy(text: string | undefined): Set<string> | undefined {
  const { browser } = readPackage(text);
  if (typeof browser !== 'object' || browser === null) return undefined;
  return new Set(Object.entries(browser).flatMap(([key, value]) => (value === false ? [key] : [])));
}

/** Parses a `package.json`. Returns an empty object when there is none, or it is not JSON. */
function readPackage(text: string | undefined): { browser?: unknown; main?: unknown } {
  try {
    const read: unknown = JSON.parse(text ?? '');
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}
