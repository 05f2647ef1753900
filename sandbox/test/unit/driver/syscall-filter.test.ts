/** Threat: a process that has left its guest calls what exploits of the kernel begin with. */

import { closeSync, fstatSync, readFileSync } from 'node:fs';
import t from 'tap';
import { syscallFilter, unnamedFile } from '../../../driver/syscall-filter.ts';

const ALLOWED = 0x7fff0000;
const KILLED = 0x80000000;
const REFUSED = 0x00050001;
const MISSING = 0x00050026;
const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;
const NEW_USER = 0x10000000;

/** Runs a filter as the kernel does: the four instructions that ours are made of (linux/filter.h). */
function verdict(filter: Buffer, arch: number, call: number, argument = 0): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call, 0);
  data.writeUInt32LE(arch, 4);
  data.writeUInt32LE(argument, 16);
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const code = filter.readUInt16LE(at * 8);
    const operand = filter.readUInt32LE(at * 8 + 4);
    const jump = (isTrue: boolean) => filter.readUInt8(at * 8 + (isTrue ? 2 : 3));
    if (code === 0x06) return operand;
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else if (code === 0x15) at += jump(accumulator === operand);
    else if (code === 0x35) at += jump(accumulator >= operand);
    else if (code === 0x45) at += jump((accumulator & operand) !== 0);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the filter has no end');
}

t.test('what no sandbox needs is refused, and the rest allowed', async (t) => {
  const x64 = syscallFilter('x64') ?? Buffer.alloc(0);
  const arm64 = syscallFilter('arm64') ?? Buffer.alloc(0);
  // read, mmap, futex, execve, getrandom
  for (const call of [0, 9, 202, 59, 318]) t.equal(verdict(x64, X64, call), ALLOWED, `x64 ${call}`);
  for (const call of [63, 222, 98, 221, 278]) t.equal(verdict(arm64, ARM64, call), ALLOWED, `arm64 ${call}`);
  // io_uring_setup, ptrace, bpf, mount, unshare, process_vm_readv
  for (const call of [425, 101, 321, 165, 272, 310]) t.equal(verdict(x64, X64, call), REFUSED, `x64 ${call}`);
  for (const call of [425, 117, 280, 40, 97, 270]) t.equal(verdict(arm64, ARM64, call), REFUSED, `arm64 ${call}`);
});

t.test('a call of another table is no way around', async (t) => {
  const filter = syscallFilter('x64') ?? Buffer.alloc(0);
  t.equal(verdict(filter, 0x40000003, 26), KILLED, 'a call of 32 bits');
  t.equal(verdict(filter, X64, 0x40000000 + 521), REFUSED, 'ptrace of x32');
});

t.test('threads are made, users with rights of their own are not', async (t) => {
  for (const [name, arch, clone] of [
    ['x64', X64, 56],
    ['arm64', ARM64, 220],
  ] as const) {
    const filter = syscallFilter(name) ?? Buffer.alloc(0);
    t.equal(verdict(filter, arch, clone, 0x3d0f00), ALLOWED);
    t.equal(verdict(filter, arch, clone, NEW_USER), REFUSED);
    t.equal(verdict(filter, arch, 435), MISSING, 'clone3, whose flags cannot be seen');
  }
});

t.test('there is none for a processor whose numbers are not known', async (t) => {
  t.equal(syscallFilter('riscv64'), undefined);
});

t.test('it holds what it was given, and nobody finds it by a name', async (t) => {
  const fd = unnamedFile(Buffer.from('filter'));
  t.teardown(() => closeSync(fd));
  t.equal(fstatSync(fd).nlink, 0);
  t.equal(readFileSync(fd, 'utf8'), 'filter');
});
