import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, stop } from 'esbuild';
import { PACKAGES } from './package-list.ts';

/** Packages, bundled into a few files with the same code. */
export interface BundledPackages {
  /** The texts of the files, by name. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The file names, by the URL of the module to which a package's name resolves. */
  readonly entries: Readonly<Record<string, string>>;
}

/**
 * Packages that fastify and pino load only for features that we do not use, or find by the place of their own files.
 */
const OUTSIDE = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request', 'thread-stream'];

/** Some bundled code requires Node's modules, or packages that are not bundled. This `require` finds them from here. */
const BANNER = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(${JSON.stringify(import.meta.url)});`;

/** Bundles the packages together. A module that several of them use stays one module. */
export async function bundlePackages(): Promise<BundledPackages> {
  const packages = PACKAGES.map((name) => ({
    name,
    origin: import.meta.resolve(name),
    out: name.replaceAll('/', '-'),
  }));
  try {
    const { outputFiles } = await build({
      entryPoints: packages.map(({ name, out }) => ({ in: `${ENTRY}${name}`, out })),
      outdir: import.meta.dirname,
      write: false,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      outExtension: { '.js': '.mjs' },
      external: OUTSIDE,
      banner: { js: BANNER },
      plugins: [entryPoints, requiredHttp],
      logLevel: 'silent',
    });
    return {
      files: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])),
      entries: Object.fromEntries(packages.map(({ origin, out }) => [origin, `${out}.mjs`])),
    };
  } finally {
    await stop();
  }
}

/** The prefix of package names in the entry points of esbuild. */
const ENTRY = 'package:';

/** Tells esbuild the names that a CommonJS module exports. Node finds these names; esbuild leaves them to run time. */
const entryPoints: Plugin = {
  name: 'entry-points',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${ENTRY}`) }, ({ path }) => {
      const name = path.slice(ENTRY.length);
      const origin = import.meta.resolve(name);
      return isModule(origin) ? { path: fileURLToPath(origin) } : { path: name, namespace: ENTRY };
    });
    onLoad({ filter: /./, namespace: ENTRY }, async ({ path: name }) => {
      const names = Object.keys(await import(name)).filter((one) => one !== 'module.exports');
      const contents = `export { ${names.join(', ')} } from ${JSON.stringify(name)};`;
      return { contents, resolveDir: import.meta.dirname };
    });
  },
};

/**
 * Replaces imports of `node:http` by `require`. An import makes Node read all of it, including its copy of undici,
 * which takes a twentieth of a start. `require` does not.
 */
const requiredHttp: Plugin = {
  name: 'required-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?https?$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'required' } : null,
    );
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

function isModule(url: string): boolean {
  const description = findPackageJSON(url);
  if (url.endsWith('.mjs') || description === undefined) return url.endsWith('.mjs');
  const { type } = JSON.parse(readFileSync(description, 'utf8')) as { type?: string };
  return type === 'module' && !url.endsWith('.cjs');
}
