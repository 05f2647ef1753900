/**
 * Threat: a plugin with the right to send through a Solana relayer makes it pay more fees than its operator allows, in
 * any way of sending. The SVM counts what was paid.
 */
import { Keypair } from '@solana/web3.js';
import t from 'tap';
import { memo as memoInstruction } from '../support/solana-relayer.ts';
import { memo, solanaStage } from '../support/solana-stage.ts';

const PLUGIN = `export async function handler({ api, params: { send, rpc } }) {
  const relayer = api.useRelayer('local-1');
  if (send !== undefined) return relayer.sendTransaction(send);
  return relayer.rpc({ jsonrpc: '2.0', id: 1, ...rpc });
}
`;
const FEE = 5_000;
const granted = (id: string, fee_per_hour: number) => ({
  id,
  path: 'spends.ts',
  permissions: { relayers: { 'local-1': { methods: ['send', 'rpc'], fee_per_hour } } },
});

const stage = await solanaStage(
  t,
  {},
  {
    plugins: [granted('three', 3 * FEE), granted('less', FEE - 1)],
    pluginFiles: { 'spends.ts': PLUGIN },
  },
);
const { service, relayer, connection, built, tickUntil, until } = stage;

let count = 0;
const send = () => ({ send: { instructions: [memo(`budget ${++count}`)] } });
const rpc = async (method: string) => ({
  rpc: { method, params: { transaction: await built([], memoInstruction(`budget ${++count}`)) } },
});
const asked = async (plugin: string, params: object) => (await service.call(plugin, params)).body;

t.test('a plugin spends its fees by every way of sending, and then no lamport more', async (t) => {
  const before = await connection.getBalance(relayer);
  const paid = async () => before - (await connection.getBalance(relayer));
  for (const [index, way] of ['transactions', 'rpc', 'transactions'].entries()) {
    const { data } = await asked('three', way === 'rpc' ? await rpc('signAndSendTransaction') : send());
    await tickUntil(way === 'rpc' ? data.result.id : data.id, 'confirmed');
    t.equal(await paid(), FEE * (index + 1), way);
  }
  const spent = { code: 'BUDGET_SPENT', details: { rule: 'fee_per_hour', limit: String(3 * FEE), remaining: '0' } };
  t.match(await asked('three', send()), { success: false, data: spent });
  t.match(await asked('three', await rpc('signAndSendTransaction')), { success: false, data: spent });
  await stage.svm.tick(3);
  t.equal(await paid(), 3 * FEE);
});

t.test('what a fee can be is reserved before anything is signed', async (t) => {
  const { data } = await asked('less', send());
  const { status_reason: reason, signature } = await until(data.id, (one) => one.status_reason !== undefined);
  t.match(reason, /^Plugin less has 4999 left of fee_per_hour 4999, and the fee can be \d+ more/);
  t.equal(signature, undefined);
});

t.test('what is signed to be kept counts nowhere, so a budget does not go with it', async (t) => {
  for (const method of ['signTransaction', 'prepareTransaction', 'transferTransaction']) {
    const { error } = await asked('less', { rpc: { method, params: { transaction: Keypair.generate().publicKey } } });
    t.match(error, /^Plugin less may not sign with relayer local-1: its grant has fee_per_hour/, method);
  }
});
