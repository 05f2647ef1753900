/** Makes the test kit importable from plugins' tests in any folder: `node --import <this file>`. */
import { registerHooks } from 'node:module';

const KIT: Readonly<Record<string, string>> = {
  'isolayer/testing': new URL('sandbox.ts', import.meta.url).href,
  'isolayer/testing/relayer': new URL('fake-relayer.ts', import.meta.url).href,
};

registerHooks({
  resolve(specifier, context, next) {
    const url = Object.hasOwn(KIT, specifier) ? KIT[specifier] : undefined;
    return url === undefined ? next(specifier, context) : { url, format: 'module-typescript', shortCircuit: true };
  },
});
