import type { WireMessage } from './wire-transaction.ts';

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const PER_SIGNATURE = 5000n;
const DEFAULT_UNITS = 200_000n;
const BUILTIN_UNITS = 3000n;
const MAX_UNITS = 1_400_000n;
const MICRO = 1_000_000n;

/** Charged 3,000 units by default instead of 200,000 (SIMD-0170). */
const BUILTINS = new Set([
  '1'.repeat(32),
  COMPUTE_BUDGET,
  'Vote111111111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
]);

/** Programs whose instructions carry their own signatures. The first byte is the number of signatures. */
const PRECOMPILES = new Set([
  'KeccakSecp256k11111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]);

/** The lamports that the payer is charged, whether the execution succeeds or fails. */
export function feeOf(message: WireMessage): bigint {
  const carried = message.instructions
    .filter(({ program }) => PRECOMPILES.has(String(message.keys[program])))
    .reduce((sum, { data }) => sum + (data[0] ?? 0), 0);
  return PER_SIGNATURE * BigInt(message.signers + carried) + priorityOf(message);
}

function priorityOf(message: WireMessage): bigint {
  if (message.config !== null) return message.config.priorityFee ?? 0n;
  const programs = message.instructions.map(({ program }) => String(message.keys[program]));
  const asked = message.instructions.filter((_, index) => programs[index] === COMPUTE_BUDGET);
  const limit = asked.find(({ data }) => data[0] === 2 && data.length >= 5);
  const price = asked.find(({ data }) => data[0] === 3 && data.length >= 9);
  if (price === undefined) return 0n;
  const usual = programs.reduce((sum, program) => sum + (BUILTINS.has(program) ? BUILTIN_UNITS : DEFAULT_UNITS), 0n);
  const units = limit === undefined ? usual : BigInt(Buffer.from(limit.data).readUInt32LE(1));
  const perUnit = Buffer.from(price.data).readBigUInt64LE(1);
  return ((units < MAX_UNITS ? units : MAX_UNITS) * perUnit + MICRO - 1n) / MICRO;
}
