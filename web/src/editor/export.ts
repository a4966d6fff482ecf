// The picture as a file: SVG and Mermaid by the same drawing that the command line prints, PNG from the SVG.

import { drawMermaid, drawSvg } from '../../../src/app/views/draw-graph.ts';
import type { GraphDrawing } from '../../../src/app/views/graph-drawing.ts';
import type { EditorDocument } from '../../../src/editor/document.ts';
import { END } from '../../../src/kernel/graph/config.ts';
import { type Drawn, drawnOf } from './drawn.ts';

export const EXPORTS = [
  ['svg', 'SVG'],
  ['png', 'PNG'],
  ['mermaid', 'Mermaid'],
] as const;
export type ExportFormat = (typeof EXPORTS)[number][0];

export function drawingOfDraft(document: EditorDocument, drawn: Drawn = drawnOf(document)): GraphDrawing {
  const leaving = new Set(drawn.ways.map(({ from }) => from));
  return {
    name: document.name,
    steps: drawn.sockets.map(({ id, name, below, marks, loop }) => ({
      ...{ id, name, does: below, marks, loop, visits: 0, isHere: false },
    })),
    ways: [
      ...drawn.ways.map(({ id, from, to, when, kind, max, at, isNextItem }) => ({
        ...{ id, from, to, when, kind, max, isNextItem, then: null, count: 0 },
        isOtherwise: kind === 'edge' && at > 0 && when === 'always',
      })),
      ...drawn.sockets
        .filter(({ id }) => !leaving.has(id))
        .map(({ id }) => ({
          ...{ id: `${id}:end`, from: id, to: END, when: 'always', kind: 'edge' as const, max: null, then: null },
          ...{ isOtherwise: false, isNextItem: false, count: 0 },
        })),
    ],
    loops: drawn.loops.map(({ id, over, lanes, steps }) => ({ id, over, atOnce: lanes, steps })),
  };
}

export async function exportAs(document: EditorDocument, format: ExportFormat): Promise<boolean> {
  const drawing = drawingOfDraft(document);
  const name = document.name.replace(/[^\w.-]+/g, '-');
  if (format === 'mermaid') return download(`${name}.mmd`, new Blob([drawMermaid(drawing)], { type: 'text/plain' }));
  const svg = drawSvg(drawing);
  if (format === 'svg') return download(`${name}.svg`, new Blob([svg], { type: 'image/svg+xml' }));
  const png = await rastered(svg);
  return png !== null && download(`${name}.png`, png);
}

const SCALE = 2;
const SIDE_MAX = 8_000;

function rastered(svg: string): Promise<Blob | null> {
  const [, , , width = '800', height = '600'] = /viewBox="([-\d.]+) ([-\d.]+) ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
  const [w, h] = [Number(width), Number(height)];
  const scale = Math.min(SCALE, SIDE_MAX / w, SIDE_MAX / h);
  const sized = svg.replace('<svg ', `<svg width="${w}" height="${h}" `);
  return new Promise((resolve) => {
    const image = new Image();
    image.onerror = () => resolve(null);
    image.onload = () => {
      const canvas = globalThis.document.createElement('canvas');
      canvas.width = Math.round(w * scale);
      canvas.height = Math.round(h * scale);
      const pen = canvas.getContext('2d');
      if (!pen) return resolve(null);
      pen.fillStyle = matchMedia('(prefers-color-scheme: dark)').matches ? '#0d1117' : '#ffffff';
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(resolve, 'image/png');
    };
    // The policy of the page lets pictures come from data, and from nowhere else.
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(sized)}`;
  });
}

function download(name: string, blob: Blob): boolean {
  const link = globalThis.document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  return true;
}
