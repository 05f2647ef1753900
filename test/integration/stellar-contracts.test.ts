/**
 * The promise: the tests' Stellar network simulates, authorizes, charges and applies contract transactions as Stellar
 * does. This covers the contracts that it has in TypeScript. Stellar's public client drives it.
 */
import {
  Asset,
  authorizeEntry,
  Contract,
  Operation,
  rpc,
  scValToNative,
  type Transaction,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import t from 'tap';
import {
  address,
  dataOf,
  i128,
  invoke,
  startContractScene,
  symbol,
  u32,
  vec,
  withAuth,
} from '../support/stellar-contract-scene.ts';
import { codeOf, LUMEN } from '../support/stellar-scene.ts';

const scene = await startContractScene();
t.teardown(() => scene.net.stop());
const { net, server, native, funded, signed, bumped, send, land, balanceOf, sequenceOf } = scene;
const { simulate, failureOf, prepared, authorized, asked } = scene;

const transfer = (from: string, to: string, amount: bigint) =>
  invoke(native, 'transfer', address(from), address(to), i128(amount));

// CAP-46-6 for the asset’s contract, CAP-46-7 for fees and refunds, CAP-67 for events.
t.test('a transfer is simulated, paid for by what it declares, and given back what it did not use', async (t) => {
  const [from, to] = [await funded(), await funded()];
  const operation = transfer(from.publicKey(), to.publicKey(), 7n * LUMEN);
  const found = await simulate(from, operation);
  if (!rpc.Api.isSimulationSuccess(found)) return t.fail(found.error);
  t.equal(found.result?.auth[0]?.credentials.type, 'sorobanCredentialsSourceAccount');
  const { readOnly, readWrite } = found.transactionData.build().resources.footprint;
  t.same(
    [readOnly.map(({ type }) => type), readWrite.map(({ type }) => type)],
    [['contractData'], ['account', 'account']],
  );

  const transaction = await prepared(from, operation);
  t.equal(BigInt(transaction.fee), 100n + BigInt(found.minResourceFee));
  const result = await land(transaction);
  t.equal(codeOf(result), 'txSuccess');
  t.ok(result.feeCharged < BigInt(transaction.fee), `${result.feeCharged} of ${transaction.fee}`);
  t.ok(result.feeCharged > 100n);
  t.equal(await balanceOf(to.publicKey()), 107n * LUMEN);
  t.equal(await balanceOf(from.publicKey()), 93n * LUMEN - result.feeCharged);
  const told = await server.getTransaction(Buffer.from(transaction.hash()).toString('hex'));
  if (told.status !== rpc.Api.GetTransactionStatus.SUCCESS) return t.fail(told.status);
  const [[event] = []] = told.events.contractEventsXdr;
  t.equal(scValToNative(event?.body.v0.topics[0] ?? u32(0)), 'transfer');
  t.equal(told.events.transactionEventsXdr.length, 2, 'the fee, and what came back of it');
  t.equal(told.returnValue?.type, 'scvVoid');
});

// CAP-46-11: the signature, the nonce and the last valid ledger of an authorization.
t.test('another account authorizes by its signature, once and for a time', async (t) => {
  const [relayer, owner, to] = [await funded(), await funded(), await funded()];
  const operation = transfer(owner.publicKey(), to.publicKey(), LUMEN);
  const transaction = await authorized(relayer, owner, operation);
  t.equal(codeOf(await land(transaction)), 'txSuccess');
  t.equal(await balanceOf(owner.publicKey()), 99n * LUMEN);

  const [body] = transaction.toEnvelope().type === 'envelopeTypeTx' ? transaction.operations : [];
  const auth = body?.type === 'invokeHostFunction' ? (body.auth ?? []) : [];
  t.match(await failureOf(relayer, withAuth(operation, auth)), /nonce already exists for address/);
  const short = await authorized(relayer, owner, operation, 1);
  await net.tick(2);
  t.match(codeOf(await land(short)), 'txFailed invokeHostFunctionTrapped', 'it expired on the way');
  const wrong = await authorized(relayer, to, operation).catch(String);
  t.match(wrong, /failed account authentication/);
  const none = await simulate(relayer, withAuth(operation, []));
  t.ok(rpc.Api.isSimulationSuccess(none));
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
});

// CAP-46-11: trees of invocations.
t.test('who authorizes a call authorizes what it calls, and nothing else', async (t) => {
  const [relayer, owner, to] = [await funded(), await funded(), await funded()];
  const probe = await net.contract('probe');
  const through = (amount: bigint) =>
    invoke(
      probe,
      'call',
      address(owner),
      address(native),
      symbol('transfer'),
      vec(address(owner), address(to), i128(amount)),
    );
  const found = await simulate(relayer, through(LUMEN));
  const [entry] = rpc.Api.isSimulationSuccess(found) ? (found.result?.auth ?? []) : [];
  t.equal(entry?.rootInvocation.subInvocations.length, 1, 'the simulation finds the call below');
  t.equal(codeOf(await land(await authorized(relayer, owner, through(LUMEN)))), 'txSuccess');

  if (entry === undefined) return t.fail('no entry');
  const consented = await authorizeEntry(entry, owner, found.latestLedger + 100, net.passphrase);
  t.match(
    await failureOf(relayer, withAuth(through(2n * LUMEN), [consented])),
    /Unauthorized function call for address/,
  );
  const bare = new xdr.SorobanAuthorizationEntry({
    credentials: entry.credentials,
    rootInvocation: new xdr.SorobanAuthorizedInvocation({
      function: entry.rootInvocation.function,
      subInvocations: [],
    }),
  });
  const rootOnly = await authorizeEntry(bare, owner, found.latestLedger + 100, net.passphrase);
  t.match(await failureOf(relayer, withAuth(through(LUMEN), [rootOnly])), /Unauthorized function call for address/);
});

// CAP-15, with the resource fee of CAP-46-7.
t.test('a fee bump pays for a contract’s call, and gets back what is given back', async (t) => {
  const [owner, payer, to] = [await funded(), await funded(), await funded()];
  const inner = await prepared(owner, transfer(owner.publicKey(), to.publicKey(), LUMEN));
  const resourceFee = BigInt(inner.fee) - 100n;
  t.equal(await send(bumped(inner, payer, resourceFee + 199n)), 'txInsufficientFee');
  const result = await land(bumped(inner, payer, resourceFee + 200n));
  t.equal(result.result.type, 'txFeeBumpInnerSuccess');
  t.ok(result.feeCharged < resourceFee + 200n);
  t.equal(await balanceOf(payer.publicKey()), 100n * LUMEN - result.feeCharged);
  t.equal(await balanceOf(owner.publicKey()), 99n * LUMEN);
});

// CAP-46-7: InvokeHostFunctionResultCode, txSOROBAN_INVALID.
t.test('what a call declares binds it', async (t) => {
  const owner = await funded();
  const probe = await net.contract('probe');
  const add = invoke(probe, 'add', address(owner), u32(3));
  const changed = async (change: (data: xdr.SorobanTransactionData) => xdr.SorobanTransactionData, fee?: string) => {
    const ready = await prepared(owner, add);
    const builder = TransactionBuilder.cloneFrom(ready, {
      fee: fee ?? String(BigInt(ready.fee) - dataOf(ready).resourceFee),
      networkPassphrase: net.passphrase,
    });
    const transaction = builder.setSorobanData(change(dataOf(ready))).build();
    transaction.sign(owner);
    return transaction;
  };
  const resources = (
    data: xdr.SorobanTransactionData,
    other: Partial<xdr.SorobanResources>,
    fee = data.resourceFee,
  ) => {
    const { footprint, instructions, diskReadBytes, writeBytes } = data.resources;
    const all = new xdr.SorobanResources({ footprint, instructions, diskReadBytes, writeBytes, ...other });
    return new xdr.SorobanTransactionData({ ext: data.ext, resources: all, resourceFee: fee });
  };
  t.equal(
    await send(await changed((data) => resources(data, {}, 1000n))),
    'txSorobanInvalid',
    'too little for its size',
  );
  t.equal(await send(await changed((data) => resources(data, { instructions: 500_000_000 }))), 'txSorobanInvalid');
  const code = async (transaction: Transaction) => codeOf(await land(transaction));
  const limit = 'txFailed invokeHostFunctionResourceLimitExceeded';
  t.equal(await code(await changed((data) => resources(data, { instructions: 10_000 }))), limit);
  t.equal(await code(await changed((data) => resources(data, { writeBytes: 10 }))), limit);
  const empty = new xdr.LedgerFootprint({ readOnly: [], readWrite: [] });
  t.equal(
    await code(await changed((data) => resources(data, { footprint: empty }))),
    'txFailed invokeHostFunctionTrapped',
  );
  const tight = await changed((data) => resources(data, {}, data.resourceFee - 12_000n));
  t.equal(await code(tight), 'txFailed invokeHostFunctionInsufficientRefundableFee');
  t.equal(await asked(probe, 'count'), 0, 'none of it counted');
  t.equal(await code(await prepared(owner, add)), 'txSuccess');
  t.equal(await asked(probe, 'count'), 3);
});

// CAP-46-1: ScError of type SCE_CONTRACT; INVOKE_HOST_FUNCTION_TRAPPED.
t.test('a contract’s own error is told by the simulation and by the ledger', async (t) => {
  const owner = await funded();
  const probe = await net.contract('probe');
  t.match(
    await failureOf(owner, invoke(probe, 'fail', u32(42))),
    /^HostError: Error\(Contract, #42\)\n\nEvent log \(newest first\):/,
  );
  t.ok((await simulate(owner, invoke(probe, 'fail', u32(42)))).events.length > 0);
  t.match(await failureOf(owner, invoke(probe, 'dance')), /Error\(WasmVm, MissingValue\)/);
  t.match(
    await failureOf(owner, invoke(new Contract(Asset.native().contractId('x')).contractId(), 'dance')),
    /Error\(Storage, MissingValue\)/,
  );
  t.match(
    await failureOf(owner, transfer(owner.publicKey(), (await funded()).publicKey(), 500n * LUMEN)),
    /Error\(Contract, #10\)/,
  );

  const to = await funded();
  const ready = await prepared(owner, transfer(owner.publicKey(), to.publicKey(), 60n * LUMEN));
  await net.fund(owner.publicKey(), -50n * LUMEN);
  const before = await balanceOf(owner.publicKey());
  const result = await land(ready);
  t.equal(codeOf(result), 'txFailed invokeHostFunctionTrapped');
  t.equal(await balanceOf(owner.publicKey()), before - result.feeCharged);
  const told = await server.getTransaction(Buffer.from(ready.hash()).toString('hex'));
  const events = 'diagnosticEventsXdr' in told ? (told.diagnosticEventsXdr ?? []) : [];
  const topics = events.map(({ event }) => event.body.v0.topics.map((topic) => topic.type));
  t.ok(
    topics.some((types) => types.includes('scvError')),
    'the reason is among the diagnostic events',
  );
});

// CAP-46-12 and CAP-66: INVOKE_HOST_FUNCTION_ENTRY_ARCHIVED, and restoring by the footprint.
t.test('what is archived comes back when the footprint says so', async (t) => {
  const owner = await funded();
  const probe = await net.contract('probe');
  const add = invoke(probe, 'add', address(owner), u32(1));
  await land(await prepared(owner, add));
  const stale = await prepared(owner, add);
  const key = new Contract(probe).getFootprint();
  await net.archive(key);
  t.equal(codeOf(await land(stale)), 'txFailed invokeHostFunctionEntryArchived');
  const fresh = await prepared(owner, add);
  t.equal(dataOf(fresh).ext.type, 'resourceExt', 'the simulation marks what has to come back');
  t.equal(codeOf(await land(fresh)), 'txSuccess');
  await net.archive(key);
  const footprint = new xdr.LedgerFootprint({ readOnly: [], readWrite: [key] });
  const resources = new xdr.SorobanResources({ footprint, instructions: 0, diskReadBytes: 0, writeBytes: 0 });
  const data = new xdr.SorobanTransactionData({ ext: xdr.SorobanTransactionDataExt.v0(), resources, resourceFee: 0n });
  const restore = await signed(owner, [Operation.restoreFootprint({})], {
    signers: [],
    with: (builder) => builder.setTimeout(300).setSorobanData(data),
  });
  const ready = await server.prepareTransaction(restore);
  ready.sign(owner);
  t.equal(codeOf(await land(ready)), 'txSuccess');
  t.equal(await asked(probe, 'count'), 2);
});

// stellar-core: both queues together hold one transaction of an account (TRY_AGAIN_LATER).
t.test('a contract’s transaction and a classic one of an account wait for each other', async (t) => {
  const owner = await funded();
  const call = await prepared(owner, transfer(owner.publicKey(), owner.publicKey(), 1n));
  const classic = await signed(owner, [Operation.bumpSequence({ bumpTo: '0' })], {
    sequence: (await sequenceOf(owner.publicKey())) + 2n,
  });
  t.equal(await send(call), 'PENDING');
  t.equal(await send(classic), 'TRY_AGAIN_LATER');
  await net.tick();
  t.equal(await send(classic), 'PENDING');
});
