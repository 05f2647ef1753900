import { ComputeBudgetProgram, Ed25519Program } from '@solana/web3.js';
import t from 'tap';
import {
  attemptPriorityPrice,
  computeLimitFor,
  MAX_COMPUTE_UNITS,
  messageFee,
  priorityPrice,
  priorityPriceWithin,
} from '../../../../../src/chains/solana/fees.ts';
import { decodeTransaction } from '../../../../../src/chains/solana/message/transaction.ts';
import { type ReadFromEndpoint, RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { fc } from '../../../../support/properties.ts';
import { keypair } from '../../../../support/solana-messages.ts';
import { readOf } from '../../../../support/solana-node.ts';
import { built, memo } from '../../../../support/solana-relayer.ts';

t.test('a limit leaves room, and never more than there is', (t) => {
  t.equal(computeLimitFor(0n), 1_000);
  t.equal(computeLimitFor(450n), 1_495);
  t.equal(computeLimitFor(1_400_000n), MAX_COMPUTE_UNITS);
  t.equal(computeLimitFor(2n ** 63n), MAX_COMPUTE_UNITS);
  t.end();
});

const pricesOf = (...prices: number[]) =>
  readOf({ getRecentPrioritizationFees: prices.map((prioritizationFee, slot) => ({ slot, prioritizationFee })) });

t.test('a price is what three of four slots asked at most, in whatever order they are told', async (t) => {
  t.equal(await priorityPrice(pricesOf(), []), 0n);
  t.equal(await priorityPrice(pricesOf(7), []), 7n);
  t.equal(await priorityPrice(pricesOf(5_000_000, 1, 3, 2), []), 3n, 'one slot of four is no market');
  t.equal(await priorityPrice(pricesOf(...Array.from({ length: 150 }, (_, slot) => (slot * 7) % 150)), []), 112n);
  t.equal(await priorityPrice(pricesOf(...Array.from({ length: 150 }, (_, slot) => (slot < 113 ? 0 : 9))), []), 0n);
});

t.test('a node that does not tell prices is no obstacle, nor is one that tells nonsense or nothing', async (t) => {
  const failing =
    (error: RpcError): ReadFromEndpoint =>
    async () => {
      throw error;
    };
  t.equal(await priorityPrice(failing(new RpcError('node', 'Method not found', { code: -32_601 })), []), 0n);
  for (const kind of ['timeout', 'malformed', 'http'] as const) {
    t.equal(await priorityPrice(failing(new RpcError(kind, 'none')), []), 0n, kind);
    const { message, messageBytes } = decodeTransaction(built([memo('a')]));
    t.equal(await messageFee(failing(new RpcError(kind, 'none')), message, messageBytes), 5_000n, kind);
  }
});

t.test('an attempt after one that got into no block offers more, whatever others paid', (t) => {
  t.equal(attemptPriorityPrice(0n, undefined), 0n);
  t.equal(attemptPriorityPrice(7n, undefined), 7n);
  t.equal(attemptPriorityPrice(0n, 0n), 10_000n);
  t.equal(attemptPriorityPrice(0n, 10_000n), 20_000n);
  t.equal(attemptPriorityPrice(90_000n, 10_000n), 90_000n);
  t.end();
});

t.test('the highest price within a fee costs no more than it, and one more would', (t) => {
  const property = fc.property(
    fc.bigInt({ min: 0n, max: 10n ** 12n }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: MAX_COMPUTE_UNITS }),
    (fee, signatures, units) => {
      const costOf = (price: bigint) => 5_000n * BigInt(signatures) + (price * BigInt(units) + 999_999n) / 1_000_000n;
      const price = priorityPriceWithin(fee, signatures, units);
      return fee <= costOf(0n) ? price === 0n : costOf(price) <= fee && costOf(price + 1n) > fee;
    },
  );
  fc.assert(property);
  t.equal(priorityPriceWithin(5_000n, 1, 200_000), 0n);
  t.equal(priorityPriceWithin(4_999n, 1, 200_000), 0n);
  t.equal(priorityPriceWithin(15_000n, 1, 200_000), 50_000n);
  t.equal(priorityPriceWithin(15_000n, 2, 200_000), 25_000n);
  t.end();
});

t.test('a fee is the node’s figure', async (t) => {
  const { message, messageBytes } = decodeTransaction(built([memo('a')]));
  const read = readOf({ getFeeForMessage: { context: { slot: 1 }, value: 7_000 } });
  t.equal(await messageFee(read, message, messageBytes), 7_000n);
  t.match(read.asked, [['getFeeForMessage', [messageBytes.toString('base64'), { commitment: 'confirmed' }]]]);
});

t.test('where limit and price are in the message, no node makes it cheaper', async (t) => {
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 100_000 });
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 50_000 });
  const feeTold = async (value: number, ...instructions: Parameters<typeof built>[0]) => {
    const { message, messageBytes } = decodeTransaction(built(instructions));
    return messageFee(readOf({ getFeeForMessage: { context: { slot: 1 }, value } }), message, messageBytes);
  };
  t.equal(await feeTold(5_000, limit, price, memo('a')), 10_000n);
  t.equal(await feeTold(12_000, limit, price, memo('a')), 12_000n, 'a node may count more, as of signatures in data');
  t.equal(await feeTold(5_000, price, memo('a')), 5_000n, 'without a limit the runtime decides');
});

t.test('where the node cannot tell it is the runtime’s formula, in its own units', async (t) => {
  const read = readOf({ getFeeForMessage: { context: { slot: 1 }, value: null } });
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 100_000 });
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 50_000 });
  const cheap = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 });
  const cases = [
    [[memo('a')], 5_000n],
    [[memo('a', keypair(1), keypair(2))], 15_000n],
    [[limit, price, memo('a')], 10_000n],
    [[limit, cheap, memo('a')], 5_001n],
    [[price, memo('a')], 15_000n],
    [[price, ...Array.from({ length: 9 }, () => memo('a'))], 75_000n],
    [[price], 5_000n],
  ] as const;
  for (const [instructions, fee] of cases) {
    const { message, messageBytes } = decodeTransaction(built([...instructions]));
    t.equal(await messageFee(read, message, messageBytes), fee);
  }
});

t.test('each signature that a program checks costs what any other does', async (t) => {
  const signed = Ed25519Program.createInstructionWithPrivateKey({
    privateKey: keypair(1).secretKey,
    message: Buffer.from('text'),
  });
  const { message, messageBytes } = decodeTransaction(built([signed, memo('a')]));
  t.equal(
    await messageFee(readOf({ getFeeForMessage: { context: { slot: 1 }, value: null } }), message, messageBytes),
    10_000n,
  );
});
