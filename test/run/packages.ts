import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, stop } from 'esbuild';
import { packagesPreload } from '../support/run-folder.ts';

/**
 * Packages that come as hundreds of modules. Whatever a process loads of one is named here: two ways to the same class
 * would otherwise be two classes.
 */
const PACKAGES = [
  '@stellar/stellar-sdk',
  '@stellar/stellar-sdk/base',
  'ethers',
  'ethers/abi',
  'ethers/address',
  'ethers/hash',
  'ethers/utils',
  'kysely',
  'zod',
  'zod/v4/core',
];

/**
 * Writes the packages as a few files into a run's folder, with a preload by which a process takes these. A service that
 * starts loads a thousand modules less, which is a third of its start, and hundreds start in a run. The code of the
 * packages is the same, and the service's own is not touched.
 */
export async function writePackages(folder: string): Promise<void> {
  const outdir = join(folder, 'packages');
  const packages = PACKAGES.map((name) => ({ origin: import.meta.resolve(name), out: name.replaceAll('/', '-') }));
  try {
    await build({
      entryPoints: packages.map(({ origin, out }) => ({ in: fileURLToPath(origin), out })),
      outdir,
      bundle: true,
      // What several of them have in common stays one module.
      splitting: true,
      platform: 'node',
      format: 'esm',
      outExtension: { '.js': '.mjs' },
      logLevel: 'error',
      // Some of what they bundle asks for Node's modules in the old way.
      banner: {
        js: `import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(${JSON.stringify(import.meta.url)});`,
      },
    });
  } finally {
    await stop();
  }
  const taken = packages.map(({ origin, out }) => [origin, String(pathToFileURL(join(outdir, `${out}.mjs`)))]);
  writeFileSync(packagesPreload(folder), preload(taken));
}

function preload(taken: readonly (readonly string[])[]): string {
  return `import { registerHooks } from 'node:module';
const taken = new Map(${JSON.stringify(taken)});
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const url = taken.get(found.url);
    return url === undefined ? found : { url, format: 'module', shortCircuit: true };
  },
});
`;
}
