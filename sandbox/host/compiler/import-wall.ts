import { realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, normalize, parse, relative, resolve as resolvePath, sep } from 'node:path';
import type { OnResolveArgs, Plugin } from 'esbuild';
import { STAND_INS } from '../../contract.ts';
import { ABSENT_NAMESPACE, absentModuleText } from './absent-modules.ts';
import { BrowserField } from './browser-field.ts';
import { MAX_FILES } from './build-job.ts';
import { globImports, replaceDynamicImportCalls } from './glob-imports.ts';
import { guestLoader, isCodeLoader, unknownKind } from './guest-syntax.ts';
import { ETHERS_NAMESPACE, isOwnEthers, ownEthers } from './own-ethers.ts';
import { isForbiddenLink, isReadByBundler, isWithinFolders, packageFiles } from './package-files.ts';
import { isProvidedNodeModule, nodeModuleName, PROVIDED_NAMESPACE, providedModuleText } from './provided-modules.ts';
import {
  FORBIDDEN_IMPORT_TEXT,
  fileState,
  isInside,
  packageFolders,
  readSource,
  resolveLinks,
  sourceTexts,
} from './source-files.ts';
import { TsconfigPaths } from './tsconfig.ts';

/** The folders that the wall needs to know. */
export interface ImportPlaces {
  /** The plugins folder, without symbolic links. */
  root: string;
  /** `sandbox/guest/modules`, with the module that replaces the public SDK. */
  modulesDir: string;
}

export interface ImportHooks {
  mostFiles?: number;
  /** Called with the name of each Node module that the guest provides. */
  onModule?: (name: string) => void;
  /** Called with the text of each file of code. */
  onText?: (file: string, text: string) => void;
}

/** The file of the guest that stands for a package. */
function standInFor(specifier: string): string | undefined {
  const name = specifier.replace(/^(@openzeppelin\/relayer-sdk\/).*/, '$1*');
  return Object.hasOwn(STAND_INS, name) ? STAND_INS[name] : undefined;
}

/** The import of the reference's library, in plugins that were written beside it. */
const LIBRARY = /^(?:\.{1,2}\/)+lib\/plugin(?:\.[jt]s)?$/;
const LIBRARY_FILE = 'lib-plugin.ts';
/** What the reference's library exports, and no other file of that name. */
const REFERENCE_LIBRARY = /^\s*export (?:async )?function runPlugin\b/m;

/** The most bytes of all files of one bundle together. */
const BUILD_BYTES = 64 * 1_048_576;

/**
 * The most bytes that the errors of a build may carry. Each error carries its line of code. Beyond this limit only a
 * few more errors may happen.
 */
const ERRORS_BYTES = 16 * 1_048_576;
const ERROR_BYTES = 500;
const MAX_REFUSED = 8;
const OPTIONAL = new Set(['require-call', 'require-resolve', 'dynamic-import']);

/** The name of a package at the head of a specifier. */
const PACKAGE = /^(@[^/]{1,200}\/)?[^./@][^/]{0,200}/;

/** A URL that is its own content. Code in it would be bundled without a check. */
const DATA_URL = /^data:/i;
const HARMLESS_DATA = /^data:(?:application\/json|(?:image|font)\/[\w.+-]{1,100})[;,]/;

/** URLs for which the bundler opens no file. */
const URL_START = /^(?:data:|https?:\/\/)/i;

const LINK_AWAY = 'The import is a link that points outside of the plugins folder, or to nothing';
const DATA_REFUSED = 'Cannot import a data: URL, except for JSON, images and fonts';

const SOURCE_MAP = 'sourceMappingURL=';
const [SLASH, STAR, HASH, AT, SPACE] = Buffer.from('/*#@ ');

/** Set on our own nested resolution, so that it is not intercepted again. */
const NESTED = Symbol('nested');

/** The namespace of modules that packages leave out in browsers. */
const EMPTY = 'empty';

/**
 * Limits the imports of a plugin to files of the plugins folder, packages of `node_modules` there or in a folder above
 * it, and the modules of the guest world. Every other import ends the build, also one through a symbolic link that
 * leads out.
 * @param onRead called with each file that is read, and its state, before the bundler sees its text
 */
export function importWall(
  places: ImportPlaces,
  onRead: (file: string, state: string) => void,
  { mostFiles = MAX_FILES, onModule = () => {}, onText = () => {} }: ImportHooks = {},
): Plugin {
  const { root } = places;
  const modulesDir = realpathSync(places.modulesDir);
  const guestDir = dirname(modulesDir);
  const packages = packagesOf(root);
  const allowed = (file: string) => isWithinFolders([root, guestDir, ...packages], file);

  /** The allowed folders as imports spell them, before a link is followed. */
  const inside = [root, guestDir, ...packages, ...packageFolders(root)];
  const isOfPackage = (file: string) =>
    file.includes(`${sep}node_modules${sep}`) || packages.some((folder) => isInside(folder, file));

  return {
    name: 'import-wall',
    setup(build) {
      /** The longest line of each file, in bytes: the most that an error in the file carries. */
      const lines = new Map<string, number>();
      let carried = 0;
      const refused = { needed: 0, optional: 0 };
      const described = new Set<string>();
      const watched = [root, ...packages];
      const refusedFile = packageFiles((folder) => isWithinFolders(watched, folder), allowed);
      const read = sourceTexts(allowed, onRead);
      const browser = new BrowserField(read);
      /** The file that replaces a package's bundle for browsers, if any, by import and importing folder. */
      const mains = new Map<string, Promise<string | undefined>>();
      const paths = new TsconfigPaths(root, read);
      const [entry] = (build.initialOptions.entryPoints ?? []) as string[];
      const entryFolder = entry === undefined ? root : dirname(entry);
      /** Whether an author's `lib/plugin` is the reference's own, which needs all of Node. */
      const isOfReference = async (file: string) => REFERENCE_LIBRARY.test((await read(file)) ?? '');
      /**
       * Reports the `package.json` files of a package as read, because the bundler reads them by itself. When one of
       * them breaks the build, its change starts a new build.
       */
      const describe = async (specifier: string) => {
        const name = PACKAGE.exec(specifier)?.[0];
        if (name === undefined || described.has(name) || described.size >= MAX_FILES) return;
        described.add(name);
        for (const folder of packages) {
          const file = join(folder, name, 'package.json');
          const state = await fileState(file);
          if (state !== undefined) onRead(file, state);
        }
      };
      /** The module that a package names for browsers in place of a Node module. */
      const mapped = async ({ path, importer, namespace, resolveDir, kind }: OnResolveArgs) => {
        if (!isOfPackage(importer) || path.startsWith('node:')) return undefined;
        const found = await build.resolve(path, { importer, namespace, resolveDir, kind, pluginData: NESTED });
        // A package with the Node module's name does not count: Node would not find it, either.
        const isInstead = found.errors.length === 0 && !found.path.includes(`${sep}node_modules${sep}${path}${sep}`);
        return isInstead ? { path: found.path, sideEffects: found.sideEffects } : undefined;
      };
      build.onResolve({ filter: /./ }, async (args) => {
        if (args.pluginData === NESTED) return undefined;
        if (DATA_URL.test(args.path) && !HARMLESS_DATA.test(args.path)) return { errors: [{ text: DATA_REFUSED }] };
        const { importer, namespace, resolveDir, kind } = args;
        if (isOfPackage(importer) && (await browser.disablesModule(importer, args.path))) {
          return { path: args.path, namespace: EMPTY };
        }
        const standIn = standInFor(args.path);
        if (standIn !== undefined) return { path: join(modulesDir, standIn) };
        if (isInside(modulesDir, importer) && isOwnEthers(args.path)) {
          return { path: importer, namespace: ETHERS_NAMESPACE };
        }
        const module = nodeModuleName(args.path);
        if (module !== undefined && (isProvidedNodeModule(module) || isOfPackage(importer))) {
          return (
            (await mapped(args)) ?? {
              path: module,
              namespace: isProvidedNodeModule(module) ? PROVIDED_NAMESPACE : ABSENT_NAMESPACE,
            }
          );
        }
        if (kind !== 'entry-point' && isInside(root, importer) && !isOfPackage(importer)) {
          for (const path of await paths.candidates(args.path, importer)) {
            if (leadsOut(path, resolveDir, inside) || (await refusedFile(path, resolveDir)) !== undefined) continue;
            const found = await build.resolve(path, { importer, namespace, resolveDir, kind, pluginData: NESTED });
            if (found.errors.length === 0) return { path: found.path, sideEffects: found.sideEffects };
          }
        }
        if (LIBRARY.test(args.path) && isInside(root, importer) && !isOfPackage(importer)) {
          const found = await build.resolve(args.path, { importer, namespace, resolveDir, kind, pluginData: NESTED });
          const isOwn = found.errors.length === 0 && isInside(root, found.path) && !(await isOfReference(found.path));
          if (!isOwn) return { path: join(modulesDir, LIBRARY_FILE) };
        }
        if (kind !== 'entry-point' && leadsOut(args.path, resolveDir, inside)) {
          // Packages probe for files above them, and can do without.
          const isProbe = OPTIONAL.has(kind) && isOfPackage(importer);
          return isProbe ? { path: args.path, external: true } : { errors: [{ text: FORBIDDEN_IMPORT_TEXT }] };
        }
        const outside = await refusedFile(args.path, resolveDir);
        if (outside !== undefined) return { errors: [{ text: refusedText(outside) }] };
        await describe(args.path);
        const options = { importer, namespace, resolveDir, kind, pluginData: NESTED };
        const resolve = () => build.resolve(args.path, options);
        if (PACKAGE.exec(args.path)?.[0] === args.path) {
          const key = `${kind} ${args.path} ${resolveDir}`;
          const main = mains.get(key) ?? resolve().then(({ path }) => browser.mainInsteadOf(path));
          mains.set(key, main);
          const path = await main;
          const found = path === undefined ? undefined : await build.resolve(path, options);
          if (found?.errors.length === 0) return { path: found.path, sideEffects: found.sideEffects };
        }
        carried += ERROR_BYTES + (lines.get(importer) ?? 0);
        // Optional and needed imports are counted apart. A missing optional import may be no error, and then another
        // one must end the build.
        const need = OPTIONAL.has(kind) ? 'optional' : 'needed';
        if (carried > ERRORS_BYTES && (await resolve()).errors.length > 0 && ++refused[need] > MAX_REFUSED) {
          return { path: args.path, external: true };
        }
        if (!/^\.{0,2}\//.test(args.path) && kind !== 'entry-point') return undefined;
        if (importer.includes(`${sep}node_modules${sep}`)) return undefined;
        // Resolves an author's file here. So the file's own code decides whether it is CommonJS or ESM, not the "type"
        // of a package.json that happens to lie above the plugins folder.
        const found = await resolve();
        if (found.errors.length > 0 && (await isLinkAway(resolvePath(resolveDir, args.path), allowed))) {
          return { errors: [{ text: LINK_AWAY }] };
        }
        if (found.errors.length > 0 || found.path.includes(`${sep}node_modules${sep}`)) return undefined;
        return { path: found.path, sideEffects: found.sideEffects };
      });
      // The bundler has followed the symbolic links by now. It gets the text from here: otherwise it would read any
      // file that the path names.
      let left = BUILD_BYTES;
      let files = 0;
      build.onLoad({ filter: /./, namespace: EMPTY }, () => ({ contents: '', loader: 'empty' }));
      build.onLoad({ filter: /./, namespace: PROVIDED_NAMESPACE }, ({ path }) => {
        onModule(path);
        return { contents: providedModuleText(path), loader: 'js' };
      });
      build.onLoad({ filter: /./, namespace: ETHERS_NAMESPACE }, async ({ path }) => ({
        ...(await ownEthers(path, (name, from) => build.resolve(name, { resolveDir: from, kind: 'import-statement' }), {
          folder: entryFolder,
          read,
        })),
        loader: 'js',
      }));
      build.onLoad({ filter: /./, namespace: ABSENT_NAMESPACE }, ({ path }) => ({
        contents: absentModuleText(path),
        loader: 'js',
      }));
      build.onLoad({ filter: /^\// }, async ({ path }) => {
        if (await browser.disablesFile(path)) return { contents: '', loader: 'empty' };
        const source = await readSource(path, allowed);
        if (typeof source === 'string') return { errors: [{ text: source }] };
        onRead(path, source.state);
        if (++files > mostFiles) return { errors: [{ text: `The bundle is made of more than ${mostFiles} files` }] };
        lines.set(path, longestLine(source.bytes));
        left -= source.bytes.length;
        if (left < 0) return { errors: [{ text: `The files of the bundle have more than ${BUILD_BYTES} bytes` }] };
        const name = relative(root, path);
        const loader = guestLoader(path);
        if (loader === undefined) return { errors: [{ text: unknownKind(name) }] };
        const contents = withoutSourceMap(source.bytes);
        const text = contents.toString();
        if (isCodeLoader(loader)) onText(path, text);
        if (isOfPackage(path)) {
          const replaced = await replaceDynamicImportCalls(name, text);
          return typeof replaced === 'string'
            ? { contents: replaced === text ? contents : replaced, loader }
            : { errors: replaced };
        }
        const errors = await globImports(name, text);
        return errors.length > 0 ? { errors } : { contents, loader };
      });
    },
  };
}

/**
 * Whether an import leads out by its own text. Such an import is refused without a look at the disk: the answer would
 * tell a plugin's author which files the machine has.
 */
function leadsOut(specifier: string, resolveDir: string, inside: readonly string[]): boolean {
  if (URL_START.test(specifier)) return false;
  if (!/^(?:\/|\.{1,2}(?:\/|$))/.test(specifier)) return /^\.\.(?:\/|$)/.test(normalize(specifier));
  const target = specifier.startsWith('/') ? normalize(specifier) : join(resolveDir, specifier);
  return !isWithinFolders(inside, target.replace(/(?<=.)\/$/, ''));
}

/**
 * The error of an import whose way leads through a refused file or folder. It shows only the last part of that path.
 */
function refusedText(path: string): string {
  const name = basename(path);
  if (isReadByBundler(path)) {
    return `The ${name} of "${basename(dirname(path))}" points outside of the plugins folder`;
  }
  const remedy = 'put the packages into it, or into a node_modules folder above the plugins folder';
  return `"${name}" is a link that points outside of the plugins folder, or to nothing${name === 'node_modules' ? `: ${remedy}` : ''}`;
}

/**
 * Whether an import that cannot be resolved is a link to a file that may not be read.
 * @param path absolute, perhaps without the file's extension
 */
async function isLinkAway(path: string, allowed: (file: string) => boolean): Promise<boolean> {
  const base = basename(path);
  const names = await readdir(dirname(path)).catch(() => []);
  const meant = names.filter((name) => name === base || parse(name).name === base);
  for (const name of meant) if (await isForbiddenLink(join(dirname(path), name), allowed)) return true;
  return false;
}

function longestLine(bytes: Buffer): number {
  let longest = 0;
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf('\n', from);
    const next = end === -1 ? bytes.length : end + 1;
    longest = Math.max(longest, next - from);
    from = next;
  }
  return longest;
}

/**
 * Blanks the word by which a comment names a source map. The comment may name any file, and the bundler would read it.
 */
function withoutSourceMap(bytes: Buffer): Buffer {
  for (let at = bytes.indexOf(SOURCE_MAP); at !== -1; at = bytes.indexOf(SOURCE_MAP, at + SOURCE_MAP.length)) {
    const [slash, second, sign, space] = bytes.subarray(Math.max(at - 4, 0), at);
    const isComment = slash === SLASH && (second === SLASH || second === STAR);
    if (isComment && (sign === HASH || sign === AT) && space === SPACE) bytes.fill(' ', at, at + SOURCE_MAP.length);
  }
  return bytes;
}

/**
 * The folders of packages, without symbolic links. The folders above the plugins folder are the operator's own, and may
 * be links to anywhere. The folder inside it is made by the plugins' authors, so it must not lead out.
 */
function packagesOf(root: string): string[] {
  const [own, ...above] = packageFolders(root).map(resolveLinks);
  const others = above.filter((folder) => folder !== undefined);
  return own !== undefined && isWithinFolders([root, ...others], own) ? [own, ...others] : others;
}
