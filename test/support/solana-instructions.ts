import {
  AuthorityType,
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createAssociatedTokenAccountInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createFreezeAccountInstruction,
  createInitializeAccountInstruction,
  createInitializeMintInstruction,
  createMintToInstruction,
  createRecoverNestedInstruction,
  createRevokeInstruction,
  createSetAuthorityInstruction,
  createSyncNativeInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableProgram,
  Authorized,
  BPF_LOADER_PROGRAM_ID,
  Keypair,
  Lockup,
  PublicKey,
  StakeProgram,
  SystemProgram,
  TransactionInstruction,
  VoteProgram,
} from '@solana/web3.js';

/** An instruction of a family, all of whose accounts are strangers to each other. */
export interface FamilyInstruction {
  name: string;
  instruction: TransactionInstruction;
}

const key = (): PublicKey => Keypair.generate().publicKey;

/** One of each instruction that programs of the chain itself, or nearly everybody's, have for moving what is somebody's. */
export function familyInstructions(): FamilyInstruction[] {
  const list: FamilyInstruction[] = [];
  const add = (name: string, instruction: TransactionInstruction) => list.push({ name, instruction });
  addSystem(add);
  for (const [name, program] of [
    ['token', TOKEN_PROGRAM_ID],
    ['token-2022', TOKEN_2022_PROGRAM_ID],
  ] as const) {
    addToken((what, instruction) => add(`${name} ${what}`, instruction), program);
  }
  addOthers(add);
  return list;
}

type Add = (name: string, instruction: TransactionInstruction) => void;

function addSystem(add: Add): void {
  const [from, to, base, authority] = [key(), key(), key(), key()];
  const [seed, programId, lamports] = ['seed', key(), 1_000_000];
  add('system transfer', SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports }));
  add(
    'system transfer-with-seed',
    SystemProgram.transfer({ fromPubkey: from, basePubkey: base, toPubkey: to, lamports, seed, programId }),
  );
  add(
    'system create',
    SystemProgram.createAccount({ fromPubkey: from, newAccountPubkey: to, lamports, space: 8, programId }),
  );
  add(
    'system create-with-seed',
    SystemProgram.createAccountWithSeed({
      ...{ fromPubkey: from, newAccountPubkey: to, basePubkey: base, seed, lamports, space: 8, programId },
    }),
  );
  add('system assign', SystemProgram.assign({ accountPubkey: from, programId }));
  add('system allocate', SystemProgram.allocate({ accountPubkey: from, space: 8 }));
  add(
    'system allocate-with-seed',
    SystemProgram.allocate({ accountPubkey: from, basePubkey: base, seed, space: 8, programId }),
  );
  add('nonce advance', SystemProgram.nonceAdvance({ noncePubkey: from, authorizedPubkey: authority }));
  add(
    'nonce withdraw',
    SystemProgram.nonceWithdraw({ noncePubkey: from, authorizedPubkey: authority, toPubkey: to, lamports }),
  );
  add(
    'nonce authorize',
    SystemProgram.nonceAuthorize({ noncePubkey: from, authorizedPubkey: authority, newAuthorizedPubkey: to }),
  );
}

function addToken(add: Add, program: PublicKey): void {
  const [source, mint, destination, authority, payer] = [key(), key(), key(), key(), key()];
  add('transfer', createTransferInstruction(source, destination, authority, 7, [], program));
  add('transfer-checked', createTransferCheckedInstruction(source, mint, destination, authority, 7, 6, [], program));
  add('approve', createApproveInstruction(source, destination, authority, 7, [], program));
  add('revoke', createRevokeInstruction(source, authority, [], program));
  add(
    'set-authority',
    createSetAuthorityInstruction(source, authority, AuthorityType.AccountOwner, destination, [], program),
  );
  add('mint-to', createMintToInstruction(mint, destination, authority, 7, [], program));
  add('burn', createBurnInstruction(source, mint, authority, 7, [], program));
  add('close', createCloseAccountInstruction(source, destination, authority, [], program));
  add('freeze', createFreezeAccountInstruction(source, mint, authority, [], program));
  add('sync-native', createSyncNativeInstruction(source, program));
  add('initialize-account', createInitializeAccountInstruction(source, mint, authority, program));
  add('initialize-mint', createInitializeMintInstruction(mint, 6, authority, null, program));
  add('associated create', createAssociatedTokenAccountInstruction(payer, source, authority, mint, program));
  add(
    'associated create-idempotent',
    createAssociatedTokenAccountIdempotentInstruction(payer, source, authority, mint, program),
  );
  add(
    'associated recover-nested',
    createRecoverNestedInstruction(source, mint, destination, payer, authority, key(), program),
  );
}

function addOthers(add: Add): void {
  const [stake, authority, to, split] = [key(), key(), key(), key()];
  const authorized = new Authorized(authority, authority);
  add('stake initialize', StakeProgram.initialize({ stakePubkey: stake, authorized, lockup: new Lockup(0, 0, key()) }));
  const one = (name: string, { instructions }: { instructions: TransactionInstruction[] }) => {
    for (const [index, instruction] of instructions.entries()) add(`${name} ${index + 1}`, instruction);
  };
  one('stake delegate', StakeProgram.delegate({ stakePubkey: stake, authorizedPubkey: authority, votePubkey: to }));
  one(
    'stake withdraw',
    StakeProgram.withdraw({ stakePubkey: stake, authorizedPubkey: authority, toPubkey: to, lamports: 7 }),
  );
  one('stake deactivate', StakeProgram.deactivate({ stakePubkey: stake, authorizedPubkey: authority }));
  one(
    'stake split',
    StakeProgram.split(
      { stakePubkey: stake, authorizedPubkey: authority, splitStakePubkey: split, lamports: 7 },
      1_000,
    ),
  );
  one(
    'vote withdraw',
    VoteProgram.withdraw({ votePubkey: stake, authorizedWithdrawerPubkey: authority, toPubkey: to, lamports: 7 }),
  );
  const [table, payer] = [key(), key()];
  add('table create', AddressLookupTableProgram.createLookupTable({ authority, payer, recentSlot: 1 })[0]);
  add(
    'table extend',
    AddressLookupTableProgram.extendLookupTable({ lookupTable: table, authority, payer, addresses: [key()] }),
  );
  add('table freeze', AddressLookupTableProgram.freezeLookupTable({ lookupTable: table, authority }));
  add('table deactivate', AddressLookupTableProgram.deactivateLookupTable({ lookupTable: table, authority }));
  add('table close', AddressLookupTableProgram.closeLookupTable({ lookupTable: table, authority, recipient: to }));
  for (const [name, programId] of [
    ['loader', BPF_LOADER_PROGRAM_ID],
    ['upgradeable loader', new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111')],
    ['loader-v4', new PublicKey('LoaderV411111111111111111111111111111111111')],
    ['unknown', key()],
  ] as const) {
    const keys = [stake, to, authority].map((pubkey) => ({ pubkey, isSigner: false, isWritable: true }));
    for (let tag = 0; tag < 12; tag += 1) {
      const data = Buffer.alloc(9);
      data.writeUInt32LE(tag);
      add(`${name} ${tag}`, new TransactionInstruction({ programId, keys, data }));
    }
  }
}
