/** One instruction; `words` of the JSON form where it is used, else the text split at blanks. */
export interface Instruction {
  keyword: string;
  text: string;
  words: string[];
}

/** The stages of a Dockerfile, each with its instructions; comments are gone, continued lines are one. */
export function parseDockerfile(source: string): Instruction[][] {
  const lines = source
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, keyword = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (keyword === '') throw new Error(`no instruction: ${line}`);
    if (keyword === 'FROM') stages.push([]);
    const stage = stages.at(-1);
    if (stage === undefined) throw new Error(`before the first FROM: ${line}`);
    stage.push({ keyword, text, words: wordsOf(text) });
  }
  return stages;
}

/** The words of the only instruction of its kind. */
export function theOnly(stage: readonly Instruction[], keyword: string): Instruction {
  const found = stage.filter((one) => one.keyword === keyword);
  const [only] = found;
  if (only === undefined || found.length > 1) throw new Error(`${found.length} times ${keyword}`);
  return only;
}

function wordsOf(text: string): string[] {
  const at = text.indexOf('[');
  return at === -1 ? text.split(/\s+/) : (JSON.parse(text.slice(at)) as string[]);
}
