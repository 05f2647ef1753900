/**
 * Makes the test kit importable from plugins' tests in any folder, and runs tests as ES modules wherever they are
 * written so: `node --import <this file>`.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const KIT: Readonly<Record<string, string>> = {
  'isolayer/testing': new URL('sandbox.ts', import.meta.url).href,
  'isolayer/testing/relayer': new URL('fake-relayer.ts', import.meta.url).href,
};

/** A statement that only a module may have, at the beginning of a line. */
const OF_MODULE =
  /^(?:import\s*[\w{*'"]|export\s+(?:default|const|let|class|function|async|type|interface)\b|export\s+[*{])/m;
const NOT_MODULE: Readonly<Record<string, string>> = {
  'commonjs-typescript': 'module-typescript',
  commonjs: 'module',
};

/**
 * The format of a file that is an ES module though the nearest `package.json` says `"type": "commonjs"`, as `npm init`
 * writes it. The service itself takes a plugin's files as their own code says, too.
 */
function moduleFormat(url: string, format: string | null | undefined): string | undefined {
  const module = NOT_MODULE[format ?? ''];
  if (module === undefined || !url.startsWith('file:') || url.includes('/node_modules/')) return undefined;
  return /\.c[jt]s$/.test(url) || !OF_MODULE.test(readFileSync(fileURLToPath(url), 'utf8')) ? undefined : module;
}

registerHooks({
  resolve(specifier, context, next) {
    const url = Object.hasOwn(KIT, specifier) ? KIT[specifier] : undefined;
    if (url !== undefined) return { url, format: 'module-typescript', shortCircuit: true };
    const found = next(specifier, context);
    const format = moduleFormat(found.url, found.format);
    return format === undefined ? found : { ...found, format };
  },
});
