/**
 * Threat: a plugin with the right to send through a Stellar relayer makes it pay more than its operator allows, or pay
 * somebody else. The ledger counts what was paid.
 */
import { Asset, Keypair, Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { LUMEN } from '../support/stellar-scene.ts';
import { payment, stellarStage } from '../support/stellar-stage.ts';

const PLUGIN = `export async function handler({ api, params: { send, sign } }) {
  const relayer = api.useRelayer('local-1');
  return send === undefined ? relayer.signTransaction(sign) : relayer.sendTransaction({ network: 'testnet', ...send });
}
`;
const payee = Keypair.random();
const granted = (id: string, caveats: object) => ({
  id,
  path: 'spends.ts',
  permissions: { relayers: { 'local-1': { methods: ['send'], ...caveats } } },
});

const stage = await stellarStage(
  t,
  {},
  {
    plugins: [
      granted('hourly', { value_per_hour: String(3n * LUMEN) }),
      granted('known', { recipients: [payee.publicKey()] }),
      granted('costly', { fee_per_hour: 99 }),
    ],
    pluginFiles: { 'spends.ts': PLUGIN },
  },
);
const { net, service, relayer, funded, signed, balanceOf, tickUntil, until } = stage;
await net.fund(payee.publicKey(), 100n * LUMEN);
const asked = async (plugin: string, params: object) => (await service.call(plugin, params)).body;
const pays = (to: Keypair, stroops: bigint) => ({ send: { operations: [payment(to, stroops)] } });

t.test('one budget adds up the smallest units of all assets, and then nothing moves', async (t) => {
  const issuer = await funded();
  const usd = { type: 'credit4', code: 'USD', issuer: issuer.publicKey() };
  const before = await balanceOf(payee.publicKey());
  const { data } = await asked('hourly', pays(payee, 2n * LUMEN));
  await tickUntil(data.id, 'confirmed');
  const left = { code: 'BUDGET_SPENT', details: { rule: 'value_per_hour', remaining: String(LUMEN) } };
  t.match(await asked('hourly', pays(payee, LUMEN + 1n)), { success: false, data: left });
  const dollars = { ...payment(payee, LUMEN + 1n), asset: usd };
  t.match(
    await asked('hourly', { send: { operations: [dollars] } }),
    { success: false, data: left },
    'of an asset too',
  );
  const own = await signed(relayer, [Operation.payment({ ...xlm('1.0000001'), destination: payee.publicKey() })], {
    signers: [],
  });
  t.match(await asked('hourly', { send: { transaction_xdr: own.toXdr() } }), { success: false, data: left });
  const native = await net.assetContract('native');
  const call = { type: 'invoke_contract', contract_address: native, function_name: 'balance', args: [] };
  t.match(
    await asked('hourly', { send: { operations: [call] } }),
    { success: false, data: left },
    'a call may take all',
  );
  await tickUntil((await asked('hourly', pays(payee, LUMEN))).data.id, 'confirmed');
  t.equal((await balanceOf(payee.publicKey())) - before, 3n * LUMEN);
});

const xlm = (amount: string) => ({ amount, asset: Asset.native() });

t.test('a plugin pays and calls those that are named, by every form', async (t) => {
  const [other, client] = [await funded(), await funded()];
  const inner = await signed(client, [Operation.payment({ ...xlm('1'), destination: payee.publicKey() })]);
  const own = await signed(relayer, [Operation.payment({ ...xlm('1'), destination: other.publicKey() })], {
    signers: [],
  });
  const forms = [
    pays(other, 1n),
    { send: { operations: [payment(payee, 1n), payment(other, 1n)] } },
    { send: { transaction_xdr: own.toXdr() } },
    { send: { transaction_xdr: inner.toXdr(), fee_bump: true } },
  ];
  for (const form of forms) {
    t.match(await asked('known', form), { success: false, error: /known/ }, JSON.stringify(form).slice(0, 100));
  }
  await tickUntil((await asked('known', pays(payee, 1n))).data.id, 'confirmed');
  t.equal(await balanceOf(other.publicKey()), 100n * LUMEN);
});

t.test('fees are reserved before anything is signed', async (t) => {
  const { data } = await asked('costly', pays(payee, 1n));
  const { status_reason: reason, hash } = await until(data.id, (one) => one.status_reason != null);
  t.match(reason, /^Plugin costly has 99 left of fee_per_hour 99, and the fee can be \d+ more/);
  t.equal(hash, null);
});
