import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readKept } from './kept-packages.ts';

/**
 * From here on this thread loads packages from the few files that are kept of them, if they are: their code is the same,
 * and to find and read a thousand modules takes a quarter of a start.
 * @returns whether they are
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
      // What requires it expects it in another shape.
      const url = context.conditions.includes('import') ? urls.get(found.url) : undefined;
      return url === undefined ? found : { url, format: 'module', shortCircuit: true };
    },
  });
  return true;
}
