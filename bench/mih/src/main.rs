// SPDX-License-Identifier: MIT
// Copyright the libsimidx authors

//! mih-rs as a contestant of bench/bn_search: see bench/bn_peer.c for who talks to it.
//!
//! mih-rs FILE RADIUS reads 64-bit words: the number of documents, the number of queries, the
//! documents, the queries. It prints one line when its index is built, and one for each line
//! "WORK FIRST COUNT" that it reads, where WORK is check, mean, times or swept.

use std::io::{BufRead, Read, Write};
use std::time::Instant;

use mih_rs::Index;

const SWEEP: usize = 64 << 20;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, now: *mut Timespec) -> i32;
}

const CLOCK_THREAD_CPUTIME_ID: i32 = 3;

/// Seconds that this thread has run.
fn cpu_seconds() -> f64 {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: `now` has the layout of struct timespec on 64-bit Linux, and is written only.
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.seconds as f64 + now.nanoseconds as f64 / 1e9
}

/// bn_mix() of bench/bn_util.c.
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d049bb133111eb);
    x ^ x >> 31
}

#[derive(Default)]
struct Figures {
    mean_us: f64,
    times_us: Vec<f64>,
    n: u64,
    sum: u64,
}

impl Figures {
    fn print(mut self) {
        self.times_us.sort_by(f64::total_cmp);
        let at = |q: f64| match self.times_us.len() {
            0 => 0.0,
            len => self.times_us[((len - 1) as f64 * q) as usize],
        };
        println!(
            "{{\"mean_us\":{:.4},\"p50_us\":{:.4},\"p99_us\":{:.4},\"n\":{},\"sum\":\"{:x}\"}}",
            self.mean_us,
            at(0.5),
            at(0.99),
            self.n,
            self.sum
        );
        std::io::stdout().flush().unwrap();
    }
}

fn run(index: &Index<u64>, radius: usize, work: &str, first: usize, queries: &[u64], sweep: &mut [u64]) -> Figures {
    let mut searcher = index.range_searcher();
    let mut out = Figures::default();

    match work {
        "check" => {
            for (i, &query) in queries.iter().enumerate() {
                let ids = searcher.run(query, radius);
                let sum = ids.iter().fold(0u64, |s, &id| s.wrapping_add(mix(u64::from(id) + 1)));
                let factor = mix((first + i) as u64 + 1) | 1;
                out.sum = out.sum.wrapping_add(sum.wrapping_mul(factor));
                out.n += ids.len() as u64;
            }
        }
        "mean" => {
            let start = cpu_seconds();
            for &query in queries {
                out.n += searcher.run(query, radius).len() as u64;
            }
            out.mean_us = (cpu_seconds() - start) * 1e6 / queries.len() as f64;
        }
        _ => {
            let mut total = 0.0;
            for &query in queries {
                if work == "swept" {
                    for word in sweep.iter_mut().step_by(8) {
                        *word = word.wrapping_add(1);
                    }
                }
                let start = Instant::now();
                out.n += searcher.run(query, radius).len() as u64;
                out.times_us.push(start.elapsed().as_secs_f64() * 1e6);
                total += out.times_us[out.times_us.len() - 1];
            }
            out.mean_us = total / queries.len() as f64;
        }
    }
    out
}

/// Resident size of this process, in bytes.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}

fn read_words(path: &str) -> std::io::Result<Vec<u64>> {
    let mut file = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(path)?);
    let words = file.get_ref().metadata()?.len() / 8;
    let mut out = Vec::with_capacity(words as usize);
    let mut word = [0; 8];
    for _ in 0..words {
        file.read_exact(&mut word)?;
        out.push(u64::from_ne_bytes(word));
    }
    Ok(out)
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let radius: usize = args[2].parse().expect("radius");
    let words = read_words(&args[1]).expect("file");
    let n = words[0] as usize;
    let queries = words[2 + n..].to_vec();
    assert_eq!(queries.len() as u64, words[1]);
    let codes = words[2..2 + n].to_vec();
    drop(words);

    let mut sweep = vec![1u64; SWEEP / 8];
    let before = resident() - 8.0 * n as f64; // the index keeps the codes
    let start = Instant::now();
    let index = Index::new(codes).expect("index");
    println!(
        "{{\"build_s\":{:.3},\"bytes\":{:.2},\"blocks\":{}}}",
        start.elapsed().as_secs_f64(),
        (resident() - before) / n as f64,
        index.num_blocks()
    );
    std::io::stdout().flush().unwrap();

    for line in std::io::stdin().lock().lines() {
        let line = line.expect("stdin");
        let part: Vec<&str> = line.split(' ').collect();
        let first: usize = part[1].parse().expect("first");
        let count: usize = part[2].parse().expect("count");
        run(&index, radius, part[0], first, &queries[first..first + count], &mut sweep).print();
    }
}
