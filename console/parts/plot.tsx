import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

interface PlotProps {
  /** Each with the name of its colour in the style sheet. */
  lines: readonly { label: string; colour: string }[];
  /** Asked for every second: the moments in seconds, then each line's values. */
  read: () => uPlot.AlignedData;
  height: number;
  /** The height of the scale where nothing is higher. */
  least: number;
  /** Whether there are moments without a value: each value is a point then. */
  isSparse?: boolean;
}

/** Lines over time, as they go on. For who does not see it, figures stand beside it. */
export function Plot(props: PlotProps) {
  const { read, height } = props;
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    const target = place.current;
    if (target === null) return undefined;
    const drawn = () => new uPlot(optionsFor(target, props), latest.current(), target);
    let plot = drawn();
    // A canvas keeps the colours that it was drawn with.
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => {
      plot.destroy();
      plot = drawn();
    };
    scheme.addEventListener('change', redraw);
    const sized = new ResizeObserver(() => plot.setSize({ width: target.clientWidth, height }));
    sized.observe(target);
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') plot.setData(latest.current());
    }, 1_000);
    return () => {
      clearInterval(timer);
      scheme.removeEventListener('change', redraw);
      sized.disconnect();
      plot.destroy();
    };
  }, []);
  return <div class="plot" ref={place} aria-hidden="true" />;
}

function clock(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString([], { timeStyle: 'medium', hourCycle: 'h23' });
}

function optionsFor(target: HTMLElement, { lines, height, least, isSparse = false }: PlotProps): uPlot.Options {
  // A canvas does not know the words of a style sheet: they are asked for as the colour of something.
  const probe = target.appendChild(document.createElement('i'));
  const colour = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  const options: uPlot.Options = {
    width: target.clientWidth || 300,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(least, most)] } },
    axes: [
      { ...axis, size: 28, space: 90, values: (_plot, moments) => moments.map(clock) },
      { ...axis, size: 40 },
    ],
    series: [
      {},
      ...lines.map(({ label, colour: name }) => ({
        ...{ label, stroke: colour(name), width: 2, spanGaps: true, points: { show: isSparse, size: 4 } },
      })),
    ],
  };
  probe.remove();
  return options;
}
