import type { Duplex } from 'node:stream';
import { type BuildJob, parseBuildRequest } from './build-request.ts';
import { encodeFrame, FrameReader } from './bundler-frames.ts';
import { BUNDLER_PROTOCOL, FILES_AT_ONCE, MESSAGE_BYTES } from './bundler-limits.ts';
import type { BundlerReport } from './bundler-report.ts';
import type { BuildEnd } from './guest-build.ts';

type Perform = (job: BuildJob, onRead: (file: string, state: string) => void) => Promise<BuildEnd>;

/**
 * Does the builds that the other end of a channel asks for, many at once.
 * @param end called when the channel ends, or nothing can be built any more
 */
export function serveBuilds(channel: Duplex, perform: Perform, end: () => void): void {
  const reader = new FrameReader({ message: MESSAGE_BYTES, bytes: 0 });
  const say = (report: BundlerReport, ...bytes: Uint8Array[]) => {
    if (channel.writable) channel.write(encodeFrame(report, ...bytes));
  };

  async function serve(message: unknown): Promise<void> {
    const { build, job } = parseBuildRequest(message);
    let files: [string, string][] = [];
    const flush = () => {
      for (; files.length > 0; files = files.slice(FILES_AT_ONCE)) {
        say({ kind: 'read', build, files: files.slice(0, FILES_AT_ONCE) });
      }
    };
    const ended = await perform(job, (file, state) => {
      // Those of one turn of the loop leave together, still ahead of whatever the bundler makes of them.
      if (files.push([file, state]) === 1) setImmediate(flush);
    });
    flush();
    report(build, ended);
  }

  function report(build: number, ended: BuildEnd): void {
    if (ended.kind !== 'built') return say({ ...ended, build });
    const { code, map } = ended;
    if (map === null) return say({ kind: 'built', build, code: code.length, map }, code);
    say({ kind: 'built', build, code: code.length, map: map.length }, code, map);
  }

  channel.on('data', (chunk: Buffer) => {
    try {
      for (const { message } of reader.push(chunk)) serve(message).catch(end);
    } catch {
      end();
    }
  });
  channel.on('error', end);
  channel.on('end', end);
  channel.on('close', end);
  say({ kind: 'ready', version: BUNDLER_PROTOCOL });
}
