import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readKept } from './kept-packages.ts';

/**
 * Makes this thread load packages from their bundles, where those exist. A bundle has the same code. Finding and
 * reading a thousand module files takes a quarter of a start.
 * @returns whether there are bundles
 */
export function takePackages(): boolean {
  const kept = readKept();
  if (kept === undefined) return false;
  const { folder, entries } = kept;
  const urls = new Map(
    Object.entries(entries).map(([origin, file]) => [origin, String(pathToFileURL(join(folder, file)))]),
  );
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      // A `require` expects the package in another form.
      const url = context.conditions.includes('import') ? urls.get(found.url) : undefined;
      return url === undefined ? found : { url, format: 'module', shortCircuit: true };
    },
  });
  return true;
}
