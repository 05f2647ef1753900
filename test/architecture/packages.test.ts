/** What services load in a run of many files: packages as few files, and the same code as from their many. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { writePackages } from '../run/packages.ts';
import { packagesPreload, sharedFolder } from '../support/run-folder.ts';

const root = join(import.meta.dirname, '..', '..');

/** Where the run has them, or where they are written now. */
async function written(): Promise<string> {
  const shared = sharedFolder();
  if (shared !== undefined && existsSync(packagesPreload(shared))) return shared;
  const folder = t.testdir();
  await writePackages(folder);
  return folder;
}

const program = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
const { Keypair } = await import('@stellar/stellar-sdk/base');
const whole = await import('@stellar/stellar-sdk');
const { ZodType } = await import('zod');
const plugin = await import('fastify-type-provider-zod');
const { AbiCoder } = await import('ethers/abi');
const ethers = await import('ethers');
const { Kysely } = await import('kysely');
console.log(JSON.stringify({
  same: [Keypair === whole.Keypair, AbiCoder === ethers.AbiCoder],
  kinds: [ZodType, plugin.serializerCompiler, Kysely].map((one) => typeof one),
  works: Keypair.master('net').publicKey(),
  loaded,
}));`;

t.test('a process takes packages from few files, and each class of them is there once', async (t) => {
  const folder = await written();
  const run = async (...options: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [...options, '--input-type=module', '-e', program], {
      cwd: root,
      maxBuffer: 2 ** 24,
    });
    return JSON.parse(stdout) as { same: boolean[]; kinds: string[]; works: string; loaded: string[] };
  };
  const { loaded, ...quick } = await run('--import', String(pathToFileURL(packagesPreload(folder))));
  const { loaded: all, ...plain } = await run();
  t.strictSame(quick, plain);
  t.strictSame(quick.same, [true, true]);
  const of = (urls: string[]) =>
    urls.filter((url) => /node_modules\/(@stellar\/stellar-sdk|ethers|kysely|zod)\//.test(url));
  t.ok(of(all).length > 800, `${of(all).length} modules`);
  t.strictSame(of(loaded), []);
});
