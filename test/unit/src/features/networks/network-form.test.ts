import t from 'tap';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import type { NetworkType } from '../../../../../src/domain/network-type.ts';
import {
  changeNetworkSettings,
  familyFieldsOf,
  networkCreateSchema,
  networkUpdateSchema,
  parseNetworkSettings,
  readNetworkForm,
} from '../../../../../src/features/networks/network-form.ts';

const chains = createChains(systemClock);
const familyOf = (type: NetworkType) => {
  const family = chains.get(type);
  if (family === undefined) throw new Error(`no family ${type}`);
  return family;
};
const BODY = { name: 'mine', network_type: 'evm', rpc_urls: ['https://rpc.example'] };

t.test('a body is read by its family, whose fields are apart', (t) => {
  t.strictSame(readNetworkForm({ ...BODY, chain_id: '5', from: 'sepolia' }, familyOf), {
    type: 'evm',
    name: 'mine',
    from: 'sepolia',
    rpcUrls: [{ url: 'https://rpc.example', weight: 100 }],
    fields: { chain_id: '5' },
  });
  for (const [body, message] of [
    [{}, /^network_type: /],
    [{ ...BODY, network_type: 'near' }, /^network_type: /],
    [{ ...BODY, rpcUrls: [] }, 'unknown field `rpcUrls`, did you mean `rpc_urls`?'],
    [{ ...BODY, chainId: 5 }, 'unknown field `chainId`, did you mean `chain_id`?'],
    [{ ...BODY, passphrase: 'x' }, /^unknown field `passphrase`, expected one of /],
    [{ ...BODY, name: 'a b' }, /^name: a name has 1 to 64 letters/],
    [{ ...BODY, rpc_urls: [] }, /^rpc_urls: rpc_urls must contain at least one/],
    [{ ...BODY, rpc_urls: [7] }, /^rpc_urls\.0: /],
    [{ ...BODY, required_confirmations: -1 }, /^required_confirmations: /],
    [[], /^the body: /],
  ] as const) {
    t.throws(() => readNetworkForm(body, familyOf), { code: 'INVALID_REQUEST', message }, JSON.stringify(body));
  }
  t.end();
});

t.test('what is not given is taken over, lists of tags together, and then has the family’s defaults', (t) => {
  const evm = familyOf('evm');
  t.strictSame(parseNetworkSettings(evm, { chain_id: 1, tags: ['a'], symbol: 'X' }, { chain_id: 5, tags: ['b'] }), {
    chain_id: 5,
    symbol: 'X',
    average_blocktime_ms: 12_000,
    tags: ['a', 'b'],
  });
  t.strictSame(parseNetworkSettings(familyOf('solana'), {}, {}), { average_blocktime_ms: 400 });
  t.end();
});

t.test('a change keeps what is absent, and null removes', (t) => {
  const evm = familyOf('evm');
  const before = { chain_id: 5, symbol: 'X', tags: ['a'], average_blocktime_ms: 7 };
  t.strictSame(changeNetworkSettings(evm, before, { tags: ['b'], symbol: null }), {
    chain_id: 5,
    symbol: 'ETH',
    average_blocktime_ms: 7,
    tags: ['b'],
  });
  t.throws(() => changeNetworkSettings(evm, before, { chain_id: 'x' }), { message: /^chain_id: / });
  t.strictSame(familyFieldsOf({ rpc_urls: [], name: 'x', from: 'y', network_type: 'evm', tags: [] }), { tags: [] });
  t.end();
});

t.test('the schemas of bodies know the fields of their family', (t) => {
  const [evm, stellar] = [familyOf('evm'), familyOf('stellar')];
  t.ok(networkCreateSchema(evm).safeParse({ ...BODY, chain_id: 5 }).success);
  t.notOk(networkCreateSchema(stellar).safeParse(BODY).success);
  t.ok(networkUpdateSchema(stellar).safeParse({ passphrase: null, rpc_urls: null }).success);
  t.notOk(networkUpdateSchema(stellar).safeParse({ name: 'x' }).success);
  t.throws(() => networkCreateSchema({ ...evm, networkSchema: stellar.policySchema.array() as never }), TypeError);
  t.end();
});
