import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `AUDIT_ARCH_*` of linux/audit.h, and the numbers of the handled calls in the kernel's table for this architecture.
 */
interface Architecture {
  readonly audit: number;
  readonly clone: number;
  readonly clone3: number;
  readonly refused: readonly number[];
}

/** Numbers of newer calls, the same on all architectures (since Linux 5.1). */
const EVERYWHERE = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_open: 434,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
};

/** Calls that no sandbox process needs, and with which exploits of the kernel or of another process begin. */
const X64 = {
  ptrace: 101,
  personality: 135,
  pivot_root: 155,
  chroot: 161,
  mount: 165,
  umount2: 166,
  swapon: 167,
  reboot: 169,
  init_module: 175,
  delete_module: 176,
  kexec_load: 246,
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  unshare: 272,
  move_pages: 279,
  perf_event_open: 298,
  name_to_handle_at: 303,
  open_by_handle_at: 304,
  setns: 308,
  process_vm_readv: 310,
  process_vm_writev: 311,
  kcmp: 312,
  finit_module: 313,
  kexec_file_load: 320,
  bpf: 321,
  userfaultfd: 323,
};

const ARM64 = {
  umount2: 39,
  mount: 40,
  pivot_root: 41,
  chroot: 51,
  personality: 92,
  unshare: 97,
  kexec_load: 104,
  init_module: 105,
  delete_module: 106,
  ptrace: 117,
  reboot: 142,
  add_key: 217,
  request_key: 218,
  keyctl: 219,
  swapon: 224,
  move_pages: 239,
  perf_event_open: 241,
  name_to_handle_at: 264,
  open_by_handle_at: 265,
  setns: 268,
  process_vm_readv: 270,
  process_vm_writev: 271,
  kcmp: 272,
  finit_module: 273,
  bpf: 280,
  userfaultfd: 282,
  kexec_file_load: 294,
};

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, Architecture>> = {
  x64: { audit: 0xc000003e, clone: 56, clone3: 435, refused: [...Object.values(EVERYWHERE), ...Object.values(X64)] },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    clone3: 435,
    refused: [...Object.values(EVERYWHERE), ...Object.values(ARM64)],
  },
};

/** Opcodes of the classic BPF (linux/bpf_common.h), and the offsets in `struct seccomp_data` (linux/seccomp.h). */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_SET = 0x45;
const RETURN = 0x06;
const NUMBER_AT = 0;
const ARCH_AT = 4;
const FIRST_ARGUMENT_AT = 16;

const KILL = 0x80000000;
const ALLOW = 0x7fff0000;
const fail = (errno: number) => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;

/** Each x32 call has this bit in its number on x64. None of our programs makes x32 calls. */
const X32_BIT = 0x40000000;
const CLONE_NEWUSER = 0x10000000;

/**
 * Makes a seccomp filter for a process that runs guests or builds, in the kernel's form: an array of `struct
 * sock_filter`. The filter refuses a short list of calls with EPERM and allows the others. It cannot see the flags of
 * `clone3`, so it reports `clone3` as missing, and the C library uses `clone`.
 * @returns undefined for an architecture whose numbers are not listed here
 */
export function syscallFilter(arch: NodeJS.Architecture): Buffer | undefined {
  const table = ARCHITECTURES[arch];
  if (table === undefined || endianness() !== 'LE') return undefined;
  return Buffer.concat([
    instruction(LOAD, ARCH_AT),
    instruction(JUMP_IF_EQUAL, table.audit, 1, 0),
    instruction(RETURN, KILL),
    instruction(LOAD, NUMBER_AT),
    ...(arch === 'x64' ? refuseIf(JUMP_IF_AT_LEAST, X32_BIT, EPERM) : []),
    ...refuseIf(JUMP_IF_EQUAL, table.clone3, ENOSYS),
    ...table.refused.flatMap((number) => refuseIf(JUMP_IF_EQUAL, number, EPERM)),
    // Allows threads and children, but no new user namespace, in which a process would have rights of its own.
    instruction(JUMP_IF_EQUAL, table.clone, 0, 3),
    instruction(LOAD, FIRST_ARGUMENT_AT),
    ...refuseIf(JUMP_IF_SET, CLONE_NEWUSER, EPERM),
    instruction(RETURN, ALLOW),
  ]);
}

/** Two instructions: returns an error where the accumulator meets the condition, else goes on. */
function refuseIf(jump: number, operand: number, errno: number): Buffer[] {
  return [instruction(jump, operand, 0, 1), instruction(RETURN, fail(errno))];
}

/** One `struct sock_filter`: opcode, where to jump if true and if false, operand. */
function instruction(code: number, operand: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(operand >>> 0, 4);
  return bytes;
}

/**
 * Makes a file without a name. Other processes can open it by its descriptor under `/proc`.
 * @returns the descriptor
 */
export function unnamedFile(bytes: Buffer): number {
  const folder = mkdtempSync(join(tmpdir(), 'isolayer-'));
  try {
    const file = join(folder, 'file');
    writeFileSync(file, bytes, { mode: 0o400 });
    return openSync(file, 'r');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
