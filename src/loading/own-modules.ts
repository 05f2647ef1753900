import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '..', '..');

/**
 * From here on this thread finds our own modules by their names alone. An import among them names its file whole, so to
 * ask the disk for it, for links and for the kind of each package above it is a tenth of a start, for nothing.
 */
export function resolveOwnModules(): void {
  const folders = ['src', 'sandbox'].map((name) => String(pathToFileURL(`${resolve(ROOT, name)}/`)));
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '' } = context;
      const isOwn = /^\.\.?\/.*\.ts$/.test(specifier) && folders.some((folder) => parentURL.startsWith(folder));
      if (!isOwn) return next(specifier, context);
      return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
    },
  });
}
