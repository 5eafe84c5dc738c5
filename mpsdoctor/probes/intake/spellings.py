"""The spellings of labels, by what they ask for. Lower case; alternatives stand between bars."""

from __future__ import annotations

SPELLINGS: dict[str, str] = {
    "os": (
        "os|operating system|o/s|system|os version|your os|which os|what os|os name|os platform|"
        "os/platform|os / platform|environment|env|desktop os|host os|os info|operating system & version|"
        "operating system version|操作系统|系统|操作系统版本|系统环境|系统信息|系统版本|运行环境|"
        "环境|平台|电脑系统|作業系統|オペレーティングシステム|"
        "os バージョン|環境|betriebssystem|système d'exploitation|système|sistema operativo|sistema|"
        "операционная система|ос|운영체제"
    ),
    "macos": (
        "macos|mac os|macos version|mac os version|os x|osx|productversion|system version|macos-version|"
        "macos 版本|macos版本|macos バージョン|macosバージョン|macos release|macos ver"
    ),
    "chip": (
        "chip|cpu|processor|soc|cpu model|cpu type|processor name|chipset model|gpu|gpu model|gpu name|"
        "hardware|device|computer|machine|mac|mac model|model name|chip type|apple silicon|cpu/gpu|"
        "gpu/cpu|hw|hardware model|mac type|your mac|laptop|brand_string|machdep.cpu.brand_string|"
        "cpu name|gpu type|graphics|graphics card|芯片|处理器|电脑|机器|机型|设备|硬件|显卡|"
        "设备型号|硬件环境|晶片|處理器|チップ|プロセッサ|"
        "マシン|機種|デバイス|prozessor|rechner|gerät|processeur|ordinateur|procesador|equipo|"
        "процессор|칩|프로세서"
    ),
    "memory": (
        "memory|ram|total ram|system ram|unified memory|physical memory|hw.memsize|total memory|mem|"
        "ram size|内存|统一内存|运行内存|記憶體|メモリ|メモリー|speicher|arbeitsspeicher|mémoire|"
        "memoria|память|메모리"
    ),
    "hardware_architecture": (
        "hardware architecture|hardware arch|cpu architecture|processor architecture|硬件架构|cpu架构|cpu 架构"
    ),
    "architecture": (
        "architecture|arch|uname -m|system architecture|machine architecture|架构|架構|系统架构|アーキテクチャ|"
        "architektur|архитектура"
    ),
    "python_architecture": (
        "python architecture|python arch|platform.machine()|platform.machine|python 架构|interpreter architecture"
    ),
    "arm64_capable": ("hw.optional.arm64"),
    "translated": ("sysctl.proc_translated"),
    "hypervisor": ("kern.hv_vmm_present|virtual machine|vm|running in a vm|虚拟机"),
    "python": (
        "python|python version|python-version|python ver|version of python|your python version|"
        "python runtime|python3|python3 version|cpython|python 版本|python版本|python バージョン|"
        "pythonバージョン|"
        "version python|versión de python|версия python|python interpreter|interpreter"
    ),
    "python_from": (
        "python from|python source|python distribution|python installed via|installed via|python vendor|python 来源"
    ),
    "torch": (
        "torch|pytorch|torch version|pytorch version|version of torch|version of pytorch|"
        "torch.__version__|pytorch-version|torch ver|pytorch 版本|pytorch版本|torch 版本|torch版本|"
        "torch.version|"
        "pytorch バージョン|pytorch version (gpu?)|torch version (gpu?)|pytorch/torch version|installed torch|"
        "torch installed"
    ),
    "torchvision": ("torchvision version"),
    "torchaudio": ("torchaudio version"),
    "numpy": ("numpy version|np.__version__|numpy.__version__|numpy 版本"),
    "built": (
        "torch.backends.mps.is_built()|torch.backends.mps.is_built|mps built|is_built|is_built()|"
        "mps is built|mps.is_built()|built with mps|mps_built"
    ),
    "available": (
        "torch.backends.mps.is_available()|torch.backends.mps.is_available|mps available|is_available|"
        "mps is available|is mps available|pytorch mps available|mps_available|mps.is_available()|"
        "torch.mps.is_available()|has mps|mps 可用|mps是否可用|mps verfügbar"
    ),
    "cuda_build": ("cuda used to build pytorch"),
    "conda": ("conda environment|conda env|conda|using conda|in a conda environment|conda 环境"),
    "conda_channel": ("conda channel|conda channels|channel urls|channel"),
    "platform": ("platform|python platform|platform.platform()|platform info|平台信息|プラットフォーム|plattform"),
    "user_agent": ("user-agent"),
    "build": ("macos build|buildversion|build version|build"),
    "model": ("model identifier|hw.model|model|hardware model identifier|model number"),
    "metal": ("metal support|metal"),
    "ignore": (
        "is cuda available|cuda|cuda version|cuda runtime version|is debug build|"
        "rocm used to build pytorch|gcc version|clang version|cmake version|libc version|"
        "nvidia driver version|cudnn version|hip runtime version|miopen runtime version|"
        "is xnnpack available|cuda_module_loading set to|gpu models and configuration|"
        "versions of relevant libraries|browser|ide|app version|title|labels|url|date|time|"
        "kernel version|firmware"
    ),
}
