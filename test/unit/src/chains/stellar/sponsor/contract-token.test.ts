// Threat: a contract that only claims the name of an asset is accepted as that asset, and pays fees with worthless
// tokens.
import { Address, Asset, xdr } from '@stellar/stellar-sdk/base';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { contractNamed, contractTokenOf, heldOf } from '../../../../../../src/chains/stellar/sponsor/contract-token.ts';
import { i128, text } from '../../../../../support/stellar-contract-scene.ts';
import { CLIENT, OTHER } from '../../../../../support/stellar-envelopes.ts';
import { LUMENS, TARGET } from '../../../../../support/stellar-forwards.ts';
import { PASSPHRASE } from '../../../../../support/stellar-relayer.ts';
import { ran, simulating } from '../../../../../support/stellar-simulation.ts';

const USD = new Asset('USD', OTHER.publicKey());
const contractOfUsd = USD.contractId(PASSPHRASE);

/** The ledger entry of a contract that gives this name. */
function instance(contract: string, name: string) {
  const key = new xdr.LedgerKeyContractData({
    contract: new Address(contract).toScAddress(),
    key: xdr.ScVal.scvLedgerKeyContractInstance(),
    durability: xdr.ContractDataDurability.persistent,
  });
  const metadata = xdr.ScVal.scvMap([new xdr.ScMapEntry({ key: xdr.ScVal.scvSymbol('name'), val: text(name) })]);
  const storage = [new xdr.ScMapEntry({ key: xdr.ScVal.scvSymbol('METADATA'), val: metadata })];
  const executable = xdr.ContractExecutable.contractExecutableStellarAsset();
  const entry = new xdr.ContractDataEntry({
    ext: xdr.ExtensionPoint.v0(),
    contract: key.contract,
    key: key.key,
    durability: key.durability,
    val: xdr.ScVal.scvContractInstance(new xdr.ScContractInstance({ executable, storage })),
  });
  return {
    key: xdr.LedgerKey.contractData(key).toXdr('base64'),
    xdr: xdr.LedgerEntryData.contractData(entry).toXdr('base64'),
  };
}

const found = (contract: string, entries: ReturnType<typeof instance>[], policies = {}) => {
  const policy = readPolicy({ fee_payment_strategy: 'user', ...policies });
  return contractTokenOf(simulating({ calls: {}, entries }), contract, policy, PASSPHRASE);
};
const called = `USD:${OTHER.publicKey()}`;

t.test('a contract is that of an asset by its address', async (t) => {
  t.equal((await found(LUMENS, [])).asset.isNative(), true);
  const token = await found(contractOfUsd, [instance(contractOfUsd, called)]);
  t.match({ ...token, asset: String(token.asset) }, { name: contractOfUsd, contract: contractOfUsd, asset: called });
  for (const name of [called, 'native', '', 'USD', 'USD:G']) {
    await t.rejects(found(TARGET, [instance(TARGET, name)]), {
      message: `No configured strategy can handle asset: ${TARGET}`,
    });
  }
  await t.rejects(found(TARGET, []), { message: /There is no contract/ });
});

t.test('policies name it by its contract or its asset', async (t) => {
  const entries = [instance(contractOfUsd, called)];
  for (const asset of [called, contractOfUsd]) {
    const token = await found(contractOfUsd, entries, { allowed_tokens: [{ asset, max_allowed_fee: 7 }] });
    t.match(token.allowed, { maxFee: 7n });
  }
  const others = { allowed_tokens: [{ asset: 'native' }] };
  await t.rejects(found(contractOfUsd, entries, others), { message: /is not allowed for fees/ });
  t.ok(await found(LUMENS, [], others));
});

t.test('another name of an asset tells its contract', (t) => {
  t.equal(contractNamed(TARGET, PASSPHRASE), TARGET);
  t.throws(() => contractNamed('XLM', PASSPHRASE), { message: new RegExp(`got 'XLM': its own is ${LUMENS}$`) });
  t.throws(() => contractNamed(called, PASSPHRASE), { message: new RegExp(`its own is ${contractOfUsd}$`) });
  t.throws(() => contractNamed('no', PASSPHRASE), { message: /^Invalid fee_token structure/ });
  t.end();
});

t.test('what somebody has of it is told by its contract', async (t) => {
  const held = (calls: Parameters<typeof simulating>[0]['calls']) =>
    heldOf(simulating({ calls }), TARGET, CLIENT.publicKey());
  t.equal(await held({ balance: ran([], i128(7n)) }), 7n);
  t.equal(await held({ balance: ran([], text('7')) }), 0n);
  t.equal(await held({}), 0n);
});
