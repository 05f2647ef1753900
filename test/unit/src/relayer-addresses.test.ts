import t, { type Test } from 'tap';
import { createChains } from '../../../src/chains/registry.ts';
import type { RelayerEntry } from '../../../src/config/configuration.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Relayer } from '../../../src/domain/relayer/relayer.ts';
import { createLog } from '../../../src/observability/log.ts';
import { keyFaults, withAddresses } from '../../../src/relayer-addresses.ts';
import { createKeySigner } from '../../../src/signers/key-signer.ts';
import { relayerOf } from '../../support/store.ts';

const OWN = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const OTHER = '0x00000000000000000000000000000000000000aa';
const chains = createChains(systemClock);

function entry(signerId: string): RelayerEntry {
  const { id, name, network, networkType, paused, notificationId, customRpcUrls, policies } = relayerOf();
  return {
    id,
    name,
    network,
    networkType,
    paused,
    signerId,
    notificationId,
    customRpcUrls,
    policies,
    declaration: {},
  };
}

/** Resolves a relayer's address. `stored`: what the store has of it. @param silent whether the signer gives no key */
async function asked(t: Test, stored: Partial<Relayer> | undefined, { silent = false, isReset = false } = {}) {
  const lines: string[] = [];
  const signer = createKeySigner(
    'k1',
    Buffer.from('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', 'hex'),
  );
  t.teardown(() => signer.close());
  const found = await withAddresses(
    [entry('k1')],
    {
      chains,
      signers: { signer: async () => (silent ? Promise.reject(new Error('the vault is sealed')) : signer) },
      read: { allRelayers: async () => (stored === undefined ? [] : [relayerOf({ signerId: 'k1', ...stored })]) },
      log: createLog('warn', { write: (line) => lines.push(line) }),
    },
    { isReset },
  );
  return { addresses: found.addressed.map(({ address }) => address), late: found.late, said: lines.join('') };
}

t.test('a relayer has the address of its key', async (t) => {
  t.strictSame(await asked(t, undefined), { addresses: [OWN], late: [], said: '' });
  t.strictSame(await asked(t, { address: OWN }), { addresses: [OWN], late: [], said: '' });
  t.match(
    await asked(t, { address: OTHER, signerId: 'k0' }),
    { addresses: [OWN], said: '' },
    'another signer is another address',
  );
});

t.test('it keeps its address where the key is another one by now, but in a reset', async (t) => {
  const { addresses, said } = await asked(t, { address: OTHER });
  t.strictSame(addresses, [OTHER]);
  t.match(
    said,
    new RegExp(`"level":"error".*"relayerId":"relayer-1","signer":"k1","address":"${OTHER}","keyIsOf":"${OWN}"`),
  );
  t.match(await asked(t, { address: OTHER }, { isReset: true }), { addresses: [OWN], said: '' });
});

t.test('it keeps its address where the key is not told', async (t) => {
  const { addresses, late, said } = await asked(t, { address: OWN }, { silent: true });
  t.strictSame([addresses, late], [[OWN], []]);
  t.match(said, new RegExp(`"level":"warn".*"address":"${OWN}".*the vault is sealed.*its stored address`));
  t.match(await asked(t, { address: OWN }, { silent: true, isReset: true }), { addresses: [OWN] });
});

t.test('one of which nothing is stored is late, and one with another signer stays as it is', async (t) => {
  t.match(await asked(t, undefined, { silent: true }), {
    addresses: [],
    late: [{ id: 'relayer-1', signerId: 'k1', error: { message: 'the vault is sealed' } }],
  });
  const { addresses, late, said } = await asked(t, { address: OTHER, signerId: 'k0' }, { silent: true });
  t.strictSame([addresses, late], [[], []]);
  t.match(said, /"level":"error".*the vault is sealed.*stays as it was till the next start/);
});

t.test('a chain family that is not there is an error', async (t) => {
  const parts = {
    chains: new Map(),
    signers: { signer: () => Promise.reject(new Error('nobody')) },
    read: { allRelayers: async () => [] },
    log: createLog('silent'),
  };
  await t.rejects(withAddresses([entry('k1')], parts), { message: 'Relayer relayer-1: no chain family evm' });
});

t.test('a signer with the key of another account is a fault, one that does not tell its key fails', async (t) => {
  const signer = createKeySigner(
    'k1',
    Buffer.from('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', 'hex'),
  );
  t.teardown(() => signer.close());
  const faultOf = keyFaults({ chains, signers: { signer: async () => signer } });
  const relayer = relayerOf({ signerId: 'k1', address: OWN });
  t.equal(await faultOf(relayer), undefined);
  t.match(
    await faultOf({ ...relayer, address: OTHER }),
    new RegExp(`^signer k1 has the key of ${OWN}, not of ${OTHER}: bring its key back, or`),
  );
  const silent = keyFaults({ chains, signers: { signer: async () => Promise.reject(new Error('sealed')) } });
  await t.rejects(silent(relayer), { message: 'sealed' });
});
