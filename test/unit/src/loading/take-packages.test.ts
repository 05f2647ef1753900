/** A kept package exports the same as the installed one, and each of its classes exists only once. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const run = promisify(execFile);

const program = `
import { registerHooks } from 'node:module';
let loaded = 0;
registerHooks({ load: (url, context, next) => { loaded += url.startsWith('file:') ? 1 : 0; return next(url, context); } });
const { Keypair } = await import('@stellar/stellar-sdk/base');
const whole = await import('@stellar/stellar-sdk');
const { ZodType } = await import('zod');
const plugin = await import('fastify-type-provider-zod');
const { AbiCoder } = await import('ethers/abi');
const ethers = await import('ethers');
const exported = {};
for (const name of ['fastify', 'kysely', 'pino', 'prom-client', 'undici', 'zod', 'ethers', '@stellar/stellar-sdk/base'])
  exported[name] = Object.keys(await import(name)).filter((one) => one !== 'module.exports');
console.log(JSON.stringify({
  same: [Keypair === whole.Keypair, AbiCoder === ethers.AbiCoder],
  kinds: [ZodType, plugin.serializerCompiler].map((one) => typeof one),
  works: Keypair.master('net').publicKey(),
  exported,
  loaded,
  hasInnerUndici: process.moduleLoadList.some((one) => one.endsWith('internal/deps/undici/undici')),
}));`;

t.test('a process that takes them has the same packages', async (t) => {
  await run(process.execPath, [join(root, 'src', 'loading', 'keep-packages.ts')]);
  const told = async (...options: string[]) => {
    const given = [...options, '--input-type=module', '-e', program];
    return JSON.parse((await run(process.execPath, given, { cwd: root })).stdout);
  };
  const taking = String(pathToFileURL(join(root, 'test', 'support', 'take-packages.ts')));
  const { loaded, hasInnerUndici, ...quick } = await told('--import', taking);
  const { loaded: many, hasInnerUndici: hasItElse, ...plain } = await told();
  t.strictSame(quick, plain);
  t.strictSame(quick.same, [true, true]);
  t.ok(many > 1000, `${many} modules`);
  t.ok(loaded < 100, `${loaded} modules`);
  t.strictSame([hasInnerUndici, hasItElse], [false, true], 'Node’s own copy of undici, which none of them uses');
});
