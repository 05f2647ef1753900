import { Wallet } from 'ethers';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/evm/configuration/policy.ts';
import { checkGasLimit, checkReceiver, policyViolation } from '../../../../../../src/chains/evm/form/policy-checks.ts';
import { readRequest } from '../../../../../../src/chains/evm/schema.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { storedTransaction } from '../../../../../support/evm.ts';

const FROM = '0x00000000000000000000000000000000000000a1';
const TO = '0x00000000000000000000000000000000000000b0';
const OTHER = '0x00000000000000000000000000000000000000c1';
const TRANSFER = { to: TO, value: 5, speed: 'fast' };

const requestOf = (body: JsonObject) => readRequest(storedTransaction({ address: FROM, policies: {} }, body).request);
const violation = (policies: JsonObject, body: JsonObject = TRANSFER) =>
  policyViolation(requestOf(body), { address: FROM, policies });

t.test('what the policies allow goes', async (t) => {
  for (const policies of [
    {},
    { whitelist_receivers: [OTHER, TO] },
    { eip1559_pricing: false, min_balance: 0, gas_price_cap: 1 },
    { private_transactions: false },
  ]) {
    t.equal(violation(policies), undefined, JSON.stringify(policies));
  }
  const limited = { ...TRANSFER, gas_limit: 21_000 };
  t.equal(violation({ gas_limit_estimation: false }, limited), undefined);
  t.equal(violation({ whitelist_receivers: [] }, { ...TRANSFER, to: FROM }), undefined, 'the account itself');
});

t.test('a violation names the policy', async (t) => {
  const { r, s, yParity } = Wallet.createRandom().authorizeSync({ address: TO, nonce: 0, chainId: 31_337 }).signature;
  const list = [{ chain_id: 31_337, address: TO, nonce: 0, y_parity: yParity, r, s }];
  for (const [policies, body, reason] of [
    [
      { whitelist_receivers: [OTHER] },
      TRANSFER,
      'Policy whitelist_receivers: Transaction target address is not whitelisted',
    ],
    [
      { whitelist_receivers: [OTHER] },
      { value: 0, data: '0x6001', speed: 'fast' },
      'Policy whitelist_receivers: Transaction target address is not whitelisted',
    ],
    [
      { gas_limit_estimation: false },
      TRANSFER,
      'Policy gas_limit_estimation: gas_limit is required when gas_limit_estimation policy is disabled',
    ],
    [
      { eip1559_pricing: false },
      { ...TRANSFER, authorization_list: list },
      'Policy eip1559_pricing: authorization_list requires EIP-1559 fees',
    ],
  ] as const) {
    t.equal(violation(policies as JsonObject, body as JsonObject), reason);
  }
});

t.test('a request is refused in the words of the reference', async (t) => {
  const policy = readPolicy({ whitelist_receivers: [OTHER], gas_limit_estimation: false });
  const said = (check: () => void) => {
    try {
      check();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  t.equal(
    said(() => checkReceiver(TO, policy, FROM)),
    'Transaction target address is not whitelisted',
  );
  t.equal(
    said(() => checkReceiver(OTHER, policy, FROM)),
    undefined,
  );
  t.match(
    said(() => checkGasLimit(requestOf(TRANSFER), policy)),
    /^gas_limit is required/,
  );
  t.match(
    said(() => checkGasLimit({ ...requestOf(TRANSFER), gasLimit: 20_999n }, readPolicy({}))),
    /^gas_limit is too low, intrinsic gas is 21000 and gas_limit is 20999$/,
  );
});
