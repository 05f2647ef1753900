/**
 * Threat: a user, or another sender, has the relayer pay for a contract call, and cheats it: pays less than quoted, in
 * another token, to somebody else, twice or too late, or gets the relayer's authorization for more than the call.
 */
import { Address, authorizeEntry, type Keypair, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { address, i128, invoke, symbol, u32, vec } from '../support/stellar-contract-scene.ts';
import { altered, type Built, forwardStage, withArgs } from '../support/stellar-forward-stage.ts';
import { LUMEN } from '../support/stellar-scene.ts';

const stage = await forwardStage(t);
const { net, relayer, contracts, built, consented, post, funded, balanceOf, server } = stage;
const { native, asked } = contracts;
const probe = await net.contract('probe');
const user = await funded();
const add = (who: Keypair = user) => invoke(probe, 'add', address(who), u32(1));

/** Posts an altered build, with the user's signature on whatever it asks for. Returns the answer. */
async function posted(one: Built, entry?: string): Promise<{ status: number; body: { error: string } }> {
  const consent = entry ?? (await consented(one, user));
  return post({ transaction_xdr: one.transaction, signed_auth_entry: consent });
}

const entryOf = (one: Built) => xdr.SorobanAuthorizationEntry.fromXdr(one.user_auth_entry, 'base64');

/** An authorization with a changed tree of calls, signed by the user. */
async function consentTo(
  one: Built,
  change: (root: xdr.SorobanAuthorizedInvocation) => xdr.SorobanAuthorizedInvocation,
) {
  const entry = entryOf(one);
  const other = new xdr.SorobanAuthorizationEntry({
    credentials: entry.credentials,
    rootInvocation: change(entry.rootInvocation),
  });
  return (await authorizeEntry(other, user, (await server.getLatestLedger()).sequence + 20, net.passphrase)).toXdr(
    'base64',
  );
}

function callIn({ function: one }: xdr.SorobanAuthorizedInvocation): xdr.InvokeContractArgs {
  if (one.type !== 'sorobanAuthorizedFunctionTypeContractFn') throw new Error('a call of a contract');
  return one.contractFn;
}

const invocation = (call: xdr.InvokeContractArgs, below: xdr.SorobanAuthorizedInvocation[] = []) =>
  new xdr.SorobanAuthorizedInvocation({
    function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(call),
    subInvocations: below,
  });

function contractCall(operation: xdr.Operation): xdr.InvokeContractArgs {
  const { body } = operation;
  const asks = body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
  if (asks?.type !== 'hostFunctionTypeInvokeContract') throw new Error('a call of a contract');
  return asks.invokeContract;
}

t.test('another call than the one that was built for is sent for nobody', async (t) => {
  const one = await built(user, add());
  const token = await net.contract('token', address(user), u32(7), xdr.ScVal.scvString('T'), xdr.ScVal.scvString('T'));
  const changes: [Record<number, xdr.ScVal>, RegExp][] = [
    [{ 0: address(token) }, /signed_auth_entry: it is for another call/],
    [{ 1: i128(0n) }, /its fee_amount is 0/],
    [{ 1: i128(-1n) }, /its fee_amount is -1/],
    [{ 1: i128(1n) }, /Insufficient fee payment: fee_amount is 1 of C/],
    [{ 1: i128(BigInt(one.max_fee_in_token) + 1n) }, /beyond its max_fee_amount/],
    [{ 2: i128(10n ** 9n) }, /signed_auth_entry: it is for another call/],
    [{ 3: u32(4_000_000_000) }, /signed_auth_entry: it is for another call/],
    [{ 4: address(native) }, /signed_auth_entry: it is for another call/],
    [{ 5: symbol('count') }, /signed_auth_entry: it is for another call/],
    [{ 6: vec(address(user), u32(9)) }, /signed_auth_entry: it is for another call/],
    [{ 7: address(relayer) }, /its user is the relayer itself/],
    [{ 7: address(await funded()) }, /signed_auth_entry: it is of G\w+, not of the user/],
    [{ 8: address(user) }, /its fee goes to G\w+, not to the relayer/],
    [{ 8: i128(1n) }, /not a call of forward\(…\) with the 9 arguments/],
  ];
  const consent = await consented(one, user);
  for (const [change, text] of changes) {
    const other = altered(one, net.passphrase, (op) => withArgs(op, change));
    t.match(
      await posted(other, consent),
      { status: 400, body: { error: text } },
      `${Object.keys(change)} ${text.source}`,
    );
  }
  const elsewhere = await net.contract('fee-forwarder');
  const other = altered(one, net.passphrase, (op) => {
    const call = op.hostFunction.type === 'hostFunctionTypeInvokeContract' ? op.hostFunction.invokeContract : undefined;
    const moved = new xdr.InvokeContractArgs({
      contractAddress: contractCall(invoke(elsewhere, 'forward')).contractAddress,
      functionName: 'forward',
      args: [...(call?.args ?? [])],
    });
    const hostFunction = xdr.HostFunction.hostFunctionTypeInvokeContract(moved);
    return new xdr.InvokeHostFunctionOp({ hostFunction, auth: [] });
  });
  const moved = await consentTo(one, ({ subInvocations, ...rest }) => {
    const { functionName, args } = callIn({ subInvocations, ...rest } as xdr.SorobanAuthorizedInvocation);
    const { contractAddress } = contractCall(invoke(elsewhere, 'forward'));
    const approval = contractCall(
      invoke(
        native,
        'approve',
        address(user),
        address(elsewhere),
        i128(BigInt(one.max_fee_in_token)),
        args[2] ?? u32(0),
      ),
    );
    const [, target] = subInvocations;
    return invocation(
      new xdr.InvokeContractArgs({ contractAddress, functionName: functionName.toString(), args: [...args] }),
      [invocation(approval), ...(target === undefined ? [] : [target])],
    );
  });
  t.match(await posted(other, moved), { status: 400, body: { error: /not the fee forwarder C\w+ of the network/ } });
  t.equal(await asked(probe, 'count'), 0);
});

t.test('the relayer consents to nothing but the call, whatever entries come with it', async (t) => {
  const one = await built(user, add());
  const steal = contractCall(invoke(native, 'transfer', address(relayer), address(user), i128(LUMEN)));
  const withEntry = (make: (op: xdr.InvokeHostFunctionOp) => xdr.SorobanAuthorizationEntry) =>
    altered(one, net.passphrase, (op) => {
      const { hostFunction, auth } = op;
      return new xdr.InvokeHostFunctionOp({ hostFunction, auth: [...auth, make(op)] });
    });
  const source = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
  const stranger = await funded();
  const byAddress = (who: Keypair) =>
    xdr.SorobanCredentials.sorobanCredentialsAddress(
      new xdr.SorobanAddressCredentials({
        address: Address.fromString(who.publicKey()).toScAddress(),
        nonce: 1n,
        signatureExpirationLedger: 4_000_000_000,
        signature: xdr.ScVal.scvVec([]),
      }),
    );
  const entry = (credentials: xdr.SorobanCredentials, rootInvocation: xdr.SorobanAuthorizedInvocation) =>
    new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation });
  const forwardIn = (op: xdr.InvokeHostFunctionOp) =>
    op.hostFunction.type === 'hostFunctionTypeInvokeContract' ? op.hostFunction.invokeContract : steal;
  const cases: [Built, RegExp][] = [
    [withEntry(() => entry(source, invocation(steal))), /auth\.2: it asks for the relayer's own authorization of more/],
    [
      withEntry((op) => entry(source, invocation(forwardIn(op), [invocation(steal)]))),
      /auth\.2: .* authorization of more/,
    ],
    [withEntry(() => entry(byAddress(relayer), invocation(steal))), /auth\.2: .* authorization of more/],
    [withEntry(() => entry(byAddress(stranger), invocation(steal))), /auth\.2: it is of G\w+, who is neither/],
  ];
  for (const [other, text] of cases) t.match(await posted(other), { status: 400, body: { error: text } }, text.source);
  // The user's signature can only spend the user's money, not the relayer's.
  const nested = await consentTo(one, ({ function: root, subInvocations }) => {
    return new xdr.SorobanAuthorizedInvocation({
      function: root,
      subInvocations: [...subInvocations, invocation(steal)],
    });
  });
  t.match(await posted(one, nested), { status: 400, body: { error: /subInvocations\.2: it is neither the approval/ } });
  // A nested call that uses the relayer's tokens has no authorization of the relayer.
  const through = invoke(
    probe,
    'call',
    address(user),
    address(native),
    symbol('transfer'),
    vec(address(relayer), address(user), i128(LUMEN)),
  );
  await t.rejects(built(user, through), /needs the relayer’s own authorization/);
  const target = contractCall(through);
  const { args } = target;
  const smuggled = altered(one, net.passphrase, (op) =>
    withArgs(op, { 4: address(probe), 5: symbol('call'), 6: vec(...args) }),
  );
  const agreed = await consentTo(one, (root) => {
    const [token = u32(0), most = u32(0), last = u32(0)] = callIn(root).args;
    const { contractAddress, functionName } = callIn(root);
    const asks = [token, most, last, address(probe), symbol('call'), vec(...args)];
    const [approval] = root.subInvocations;
    return invocation(
      new xdr.InvokeContractArgs({ contractAddress, functionName: functionName.toString(), args: asks }),
      [...(approval === undefined ? [] : [approval]), invocation(target, [invocation(steal)])],
    );
  });
  t.match(await posted(smuggled, agreed), { status: 400, body: { error: /Unauthorized function call for address/ } });
  t.equal(await balanceOf(relayer.publicKey()), 100n * LUMEN, 'nothing is spent');
});

t.test('who has not signed, or signed for somebody else, is told so', async (t) => {
  const one = await built(user, add());
  const other = await funded();
  const { sequence } = await server.getLatestLedger();
  const cases: [string, RegExp][] = [
    [one.user_auth_entry, /simulation failed: .*Auth/],
    [await consented(one, other), /signer does not belong to account/],
    [
      (await authorizeEntry(entryOf(one), user, sequence + 20, 'Another Network')).toXdr('base64'),
      /failed ED25519 verification/,
    ],
    ['AAAA', /Invalid XDR: invalid `signed_auth_entry`/],
    ['', /Invalid XDR: invalid `signed_auth_entry`/],
  ];
  for (const [entry, text] of cases)
    t.match(await posted(one, entry), { status: 400, body: { error: text } }, text.source);
  const consent = await consented(one, user);
  const forms: [object, RegExp][] = [
    [{ signed_auth_entry: consent }, /Must provide either operations or transaction_xdr/],
    [
      { signed_auth_entry: consent, operations: [{ type: 'upload_wasm', wasm: { hex: '0061736d' } }] },
      /requires transaction_xdr/,
    ],
    [
      { signed_auth_entry: consent, transaction_xdr: one.transaction, fee_bump: true },
      /both signed_auth_entry and fee_bump/,
    ],
    [
      { signed_auth_entry: consent, transaction_xdr: await stage.wanted(user, add()) },
      /does not match relayer account/,
    ],
  ];
  for (const [body, text] of forms) t.match(await post(body), { status: 400, body: { error: text } }, text.source);
});

t.test('a consent is good once', async (t) => {
  const one = await built(user, add());
  const body = { transaction_xdr: one.transaction, signed_auth_entry: await consented(one, user) };
  const id = await stage.submit(body);
  t.equal(await stage.submit(body), id, 'posted twice it is one transaction');
  await stage.until(id, ({ status }) => status === 'submitted');
  await stage.tickUntil(id, 'confirmed');
  t.equal(await stage.submit(body), id);
  t.equal(await asked(probe, 'count'), 1);
  // The nonce of the first call, used for another call.
  const again = await built(user, invoke(probe, 'add', address(user), u32(7)));
  const first = entryOf(one).credentials;
  const { rootInvocation } = entryOf(again);
  const reused = new xdr.SorobanAuthorizationEntry({ credentials: first, rootInvocation });
  const answer = await posted({ ...again, user_auth_entry: reused.toXdr('base64') });
  t.match(answer, { status: 400, body: { error: /nonce already exists for address/ } });
});

t.test('a consent that has expired is sent for nobody', async (t) => {
  const one = await built(user, add());
  const { sequence } = await server.getLatestLedger();
  const soon = (await authorizeEntry(entryOf(one), user, sequence + 1, net.passphrase)).toXdr('base64');
  await net.tick(2);
  t.match(await posted(one, soon), { status: 400, body: { error: /An authorization entry in its auth has expired/ } });
  const consent = await consented(one, user);
  await net.tick(30);
  t.match(await posted(one, consent), { status: 400, body: { error: /expired|ended at/ } });
});
