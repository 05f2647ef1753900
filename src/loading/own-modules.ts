import { type ResolveFnOutput, registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '..', '..');

/**
 * Makes this thread find our own modules by their names alone. Our imports name the whole file. To ask the disk for the
 * file, for links and for the kind of each package above it takes a tenth of a start, for nothing. A package is looked
 * for once, because it is the same for each of our modules.
 */
export function resolveOwnModules(): void {
  const folders = ['src', 'sandbox'].map((name) => String(pathToFileURL(`${resolve(ROOT, name)}/`)));
  const packages = new Map<string, ResolveFnOutput>();
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '' } = context;
      const isOurs = folders.some((folder) => parentURL.startsWith(folder));
      // A `require` may need another file than an import.
      if (!isOurs || !context.conditions.includes('import')) return next(specifier, context);
      if (/^\.\.?\/.*\.ts$/.test(specifier)) {
        return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
      }
      if (specifier.startsWith('.')) return next(specifier, context);
      const found = packages.get(specifier) ?? next(specifier, context);
      packages.set(specifier, found);
      return { ...found, shortCircuit: true };
    },
  });
}
