/** The statements of docs/stellar.md are true. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createChains } from '../../src/chains/registry.ts';
import { readPolicy, stellarPolicies, timeoutSecondsOf } from '../../src/chains/stellar/configuration/policy.ts';
import { authorizationSchema, contractValueSchema } from '../../src/chains/stellar/form/contract.ts';
import { createStellarChain } from '../../src/chains/stellar/index.ts';
import { sendRequestSchema } from '../../src/chains/stellar/request.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { loadConfiguration } from '../../src/settings/load.ts';
import { createSignerKinds } from '../../src/signers/registry.ts';
import { manage } from '../support/channels-scene.ts';

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'stellar.md'), 'utf8');
const ADDRESS = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';
const account = { address: ADDRESS, policies: { fee_payment_strategy: 'relayer' } };
const chain = createStellarChain();
const blocks = [...guide.matchAll(/```json\n([^]*?)```/g)].map(([, text = '']) => text);
const [pasted = '', bump = '', forwarded = '', swaps = '', channels = ''] = blocks;

t.test('the configuration is taken as pasted', async (t) => {
  const cwd = t.testdir({ config: { 'config.json': pasted } });
  const parts = {
    env: { KEYSTORE_PASSPHRASE: 'a passphrase' },
    chains: createChains(systemClock),
    signerKinds: createSignerKinds(),
  };
  const { relayers } = await loadConfiguration({ ...parts, cwd });
  t.match(relayers, [{ id: 'stellar-1', networkType: 'stellar', policies: { fee_payment_strategy: 'relayer' } }]);
  for (const { network } of chain.builtInNetworks) t.match(guide, `\`${String(network)}\``);
  t.throws(
    () => stellarPolicies.schema.parse({ min_balance: 1 }),
    /Fee payment strategy is required/,
    'it has to be said',
  );
});

t.test('its example requests are valid', async (t) => {
  const [, body = ''] = /-d '(\{.*\})'/.exec(guide) ?? [];
  t.match(chain.parseRequest(JSON.parse(body), account, 0), { anchorKind: 'sequence', onDeath: 'renew' });
  for (const body of [bump, forwarded]) t.ok(sendRequestSchema.safeParse(JSON.parse(body)).success);
  t.match(JSON.parse(forwarded), { signed_auth_entry: /./ });
});

t.test('its blocks are all looked at, with the policy of swaps and the naming of channels', async (t) => {
  t.equal(blocks.length, 5);
  t.match(readPolicy(stellarPolicies.schema.parse(JSON.parse(swaps))), {
    feePaymentStrategy: 'user',
    swapConfig: { strategies: ['order-book', 'soroswap'], below: 50_000_000n },
    allowedTokens: [{ slippage: 0.5, swapped: { least: 50_000_000n } }],
  });
  const { params } = JSON.parse(channels) as { params: object };
  const { action, relayerIds } = (params as { management: Record<string, unknown> }).management;
  t.match(manage(String(action), { relayerIds }), { management: { action: 'setChannelAccounts' } });
  t.same(Object.keys(params), Object.keys(manage('')));
});

t.test('each operation and each consent of its lists is one, and there are no others', async (t) => {
  const told = guide.match(/The types are ([^;]*);/)?.[1] ?? '';
  const named = [...told.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  for (const type of named) {
    const fault = sendRequestSchema.safeParse({ network: 'x', operations: [{ type }] }).error?.issues ?? [];
    t.notOk(
      fault.some(({ path }) => path.at(-1) === 'type'),
      type,
    );
  }
  t.equal(named.length, 4);
  const rows = [...guide.matchAll(/^\| `\{ "type": "(\w+)"/gm)].map(([, type]) => type);
  t.same(rows, ['source_account', 'none', 'xdr']);
  for (const type of rows)
    t.ok(authorizationSchema.safeParse({ type, ...(type === 'xdr' && { entries: [] }) }).success);
  for (const value of [{ u32: 7 }, { symbol: 'transfer' }, 'void', { i128: { hi: '0', lo: '7' } }, { i128: '7' }]) {
    t.ok(guide.replaceAll(' ', '').includes(JSON.stringify(value)), JSON.stringify(value));
    t.ok(contractValueSchema.safeParse(value).success);
  }
});

t.test('its figures are those of the family', async (t) => {
  t.match(guide, `offered again every ${(chain.pace.reofferMs ?? 0) / 1_000} s`);
  t.match(guide, `(${Number(chain.minimumBalance(account.policies)) / 1e7} XLM where the policy is not set)`);
  t.match(guide, `(${timeoutSecondsOf(readPolicy(account.policies))} where the policy is not set)`);
});

t.test('its table of policies names policies', async (t) => {
  const names = [...guide.matchAll(/^\| `([a-z_]+)` \| [^|]+ \|$/gm)].map(([, name = '']) => name);
  t.ok(names.length >= 6);
  for (const name of names.filter((one) => one !== 'auth')) {
    t.notOk(stellarPolicies.schema.safeParse({ fee_payment_strategy: 'user', [name]: { no: 'such' } }).success, name);
  }
});
