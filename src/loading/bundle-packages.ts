import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, stop } from 'esbuild';
import { PACKAGES } from './package-list.ts';

/** Packages as a few files of the same code. */
export interface BundledPackages {
  /** Name of a file to its text. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Address of a module that a package's name leads to, to the file that has it. */
  readonly entries: Readonly<Record<string, string>>;
}

/** What fastify and pino load only for uses that we do not make of them, or find by the place of their own files. */
const OUTSIDE = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request', 'thread-stream'];

/** Some of what is bundled requires Node's modules, or packages that stay outside: those that are found from here. */
const BANNER = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(${JSON.stringify(import.meta.url)});`;

/** Bundles the packages together: what several of them have in common stays one module. */
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

/** Before the name of a package, as esbuild is given it. */
const ENTRY = 'package:';

/** Node finds the names that a CommonJS module exports, which esbuild leaves to the run: it is told of them. */
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
 * Who imports `node:http` as a module has all of it read, also the copy of undici in it, which is a twentieth of a start.
 * Who requires it does not.
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
