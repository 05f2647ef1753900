/**
 * Imports among our own modules lead to the same files as with Node. Missing modules and all other imports are left to
 * Node.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const root = join(import.meta.dirname, '..', '..', '..', '..');

async function told(program: string): Promise<unknown> {
  const options = ['--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: root });
  return JSON.parse(stdout);
}

/** Prints the URL of each module that it loads, and the code of a failed import. */
const LOADS = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => { loaded.push(url + ' ' + context.format); return next(url, context); } });
await import('./src/domain/errors.ts');
await import('./sandbox/driver/child/launch.ts');
const failed = await import('./src/domain/nothing.ts').catch(({ code }) => code);
console.log(JSON.stringify({ loaded: loaded.filter((one) => one.startsWith('file:')), failed }));`;

t.test('the same modules are found, in the same form', async (t) => {
  const quick = await told(
    `import { resolveOwnModules } from './src/loading/own-modules.ts'; resolveOwnModules();${LOADS}`,
  );
  t.strictSame(quick, await told(LOADS));
  t.match(quick, { failed: 'ERR_MODULE_NOT_FOUND' });
});
