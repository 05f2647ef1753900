import { Address, Asset, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import {
  assertWithinLimit,
  contractTokenOf,
  feeTokenOf,
  feeTokenOfAsset,
  tokenContractOf,
} from '../../../../../../src/chains/stellar/sponsor/asset.ts';
import { text } from '../../../../../support/stellar-contract-scene.ts';
import { OTHER } from '../../../../../support/stellar-envelopes.ts';
import { LUMENS, TARGET } from '../../../../../support/stellar-forwards.ts';
import { PASSPHRASE } from '../../../../../support/stellar-relayer.ts';
import { simulating } from '../../../../../support/stellar-simulation.ts';

const USD = `USD:${OTHER.publicKey()}`;
const CONTRACT = 'CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC';
const policy = (tokens?: object[]) =>
  readPolicy({ fee_payment_strategy: 'user', ...(tokens && { allowed_tokens: tokens as never }) });

t.test('the coin has three names, and tokens one', (t) => {
  for (const name of ['native', 'XLM', '']) t.match(feeTokenOf(name, policy()), { name: 'native' });
  const { name, asset } = feeTokenOf(USD, policy());
  t.match({ name, code: asset.code, issuer: asset.issuer }, { name: USD, code: 'USD', issuer: OTHER.publicKey() });
  t.throws(() => feeTokenOf('USD', policy()), { message: /^Invalid fee_token structure: Invalid asset identifier: / });
  t.throws(() => feeTokenOf(CONTRACT, policy()), { message: /No configured strategy can handle asset: C/ });
  t.end();
});

t.test('the policies say which are taken, and how much of each', (t) => {
  const some = policy([{ asset: 'XLM' }, { asset: USD, max_allowed_fee: 5, swap_config: { slippage_percentage: 2 } }]);
  t.match(feeTokenOf('native', some).allowed, { asset: 'native', maxFee: null, slippage: null });
  const token = feeTokenOfAsset(new Asset('USD', OTHER.publicKey()), some);
  t.match(token.allowed, { asset: USD, maxFee: 5n, slippage: 2 });
  t.throws(() => feeTokenOfAsset(new Asset('EUR', OTHER.publicKey()), some), {
    message: /EUR:G\w+ is not allowed for fees/,
  });
  t.match(feeTokenOfAsset(Asset.native(), policy()), { name: 'native' });
  t.doesNotThrow(() => assertWithinLimit(token, 5n));
  t.throws(() => assertWithinLimit(token, 6n), { message: 'Max fee exceeded: 5' });
  t.end();
});

// Threat: a contract that only claims the name of an asset is accepted as that asset, and pays fees with worthless
// tokens.
t.test('contract token', async (t) => {
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
    t.equal(tokenContractOf(TARGET, PASSPHRASE), TARGET);
    t.throws(() => tokenContractOf('XLM', PASSPHRASE), { message: new RegExp(`got 'XLM': its own is ${LUMENS}$`) });
    t.throws(() => tokenContractOf(called, PASSPHRASE), { message: new RegExp(`its own is ${contractOfUsd}$`) });
    t.throws(() => tokenContractOf('no', PASSPHRASE), { message: /^Invalid fee_token structure/ });
    t.end();
  });
});
